import { onScopeDispose, shallowRef, watch } from 'vue'
import type { ShallowRef } from 'vue'
import type { RelayedRoomView } from '../../../shared/console/relays.ts'
import { useConsole } from './useConsole.ts'

const readEveryMs = 2_000

/** Rooms that are on several nodes, and their relays, polled while the component is mounted. @param roomId default: all rooms */
export function useRelayedRooms(roomId: () => string | undefined): ShallowRef<readonly RelayedRoomView[]> {
  const client = useConsole()
  const relayedRooms = shallowRef<readonly RelayedRoomView[]>([])

  async function read(): Promise<void> {
    if (document.hidden) return
    const room = roomId()
    // Without an answer of the controller the list stays unchanged: the page reports the lost connection.
    const now = await client.call('relays.list', room === undefined ? {} : { room_id: room }).catch(() => undefined)
    if (now !== undefined && room === roomId()) relayedRooms.value = now
  }

  const timer = setInterval(() => void read(), readEveryMs)
  onScopeDispose(() => clearInterval(timer))
  watch(
    roomId,
    () => {
      relayedRooms.value = []
      void read()
    },
    { immediate: true },
  )
  return relayedRooms
}

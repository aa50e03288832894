import { onScopeDispose, shallowRef, watch } from 'vue'
import type { ShallowRef } from 'vue'
import type { RelayedRoomView } from '../../../shared/console/relays.ts'
import { useConsole } from './useConsole.ts'

const readEveryMs = 2_000

/** Rooms that are on several nodes, and what these hand to each other, read again for as long as somebody looks. @param roomId left out: of all rooms */
export function useRelayedRooms(roomId: () => string | undefined): ShallowRef<readonly RelayedRoomView[]> {
  const client = useConsole()
  const relayedRooms = shallowRef<readonly RelayedRoomView[]>([])

  async function read(): Promise<void> {
    if (document.hidden) return
    const room = roomId()
    // Without an answer of the controller all stays as it was: the page says that it is away.
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

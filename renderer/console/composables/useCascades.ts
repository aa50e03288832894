import { onScopeDispose, shallowRef, watch } from 'vue'
import type { ShallowRef } from 'vue'
import type { CascadeView } from '../../../shared/console/relays.ts'
import { useConsole } from './useConsole.ts'

const readEveryMs = 2_000

/** Rooms that are on several nodes, and what these hand to each other, read again for as long as somebody looks. @param roomId left out: of all rooms */
export function useCascades(roomId: () => string | undefined): ShallowRef<readonly CascadeView[]> {
  const client = useConsole()
  const cascades = shallowRef<readonly CascadeView[]>([])

  async function read(): Promise<void> {
    if (document.hidden) return
    const room = roomId()
    // What the controller does not answer stays as it was: the page says that it is away.
    const now = await client.call('relays.list', room === undefined ? {} : { room_id: room }).catch(() => undefined)
    if (now !== undefined && room === roomId()) cascades.value = now
  }

  const timer = setInterval(() => void read(), readEveryMs)
  onScopeDispose(() => clearInterval(timer))
  watch(
    roomId,
    () => {
      cascades.value = []
      void read()
    },
    { immediate: true },
  )
  return cascades
}

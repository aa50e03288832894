import { computed, type ComputedRef } from 'vue'
import type { RelayedRoomView } from '../../../shared/console/relays.ts'
import { useReading } from '../live/useReading.ts'

/**
 * Rooms that are on several nodes, and their relays, polled while the component is mounted.
 * @param roomId default: all rooms
 */
export function useRelayedRooms(roomId: () => string | undefined): ComputedRef<readonly RelayedRoomView[]> {
  const input = (): { room_id?: string } => {
    const room_id = roomId()
    return room_id === undefined ? {} : { room_id }
  }
  const { value } = useReading('relays.list', input, { everyMs: 2_000 })
  return computed(() => value.value ?? [])
}

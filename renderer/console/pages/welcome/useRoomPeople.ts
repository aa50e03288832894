import { computed, type ComputedRef } from 'vue'
import { useReading } from '../../live/useReading.ts'

/** Names of the users in a room by their ids, live. */
export function useRoomPeople(roomId: string): ComputedRef<ReadonlyMap<string, string>> {
  const { value } = useReading('rooms.get', { room_id: roomId })
  return computed(() => {
    const people = (value.value?.users ?? []).filter(({ device }) => !device)
    return new Map(people.map(({ user_id, user_name }) => [user_id, user_name || user_id]))
  })
}

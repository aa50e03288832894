import { computed, type ComputedRef } from 'vue'
import { useFormat } from '../../composables/useFormat.ts'
import { useReading } from '../../live/useReading.ts'

/** Names of users as a list, in the language of the page. */
export interface Names {
  count: number
  /** Names, e.g. `Ann, Ben and Eve`; empty: nobody. */
  text: string
}

/** Users in a room, live. */
export function useRoomPeople(roomId: string): {
  people: ComputedRef<ReadonlyMap<string, string>>
  names: ComputedRef<Names>
  listed: (names: readonly string[]) => Names
} {
  const { list } = useFormat()
  const { value } = useReading('rooms.get', { room_id: roomId })
  const listed = (names: readonly string[]): Names => ({ count: names.length, text: list(names) })
  const people = computed(
    () =>
      new Map(
        (value.value?.users ?? [])
          .filter(({ device }) => !device)
          .map(({ user_id, user_name }) => [user_id, user_name || user_id]),
      ),
  )
  return { people, names: computed(() => listed([...people.value.values()])), listed }
}

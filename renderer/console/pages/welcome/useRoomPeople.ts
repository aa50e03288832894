import { computed, type ComputedRef, onScopeDispose } from 'vue'
import { collected, useLive } from '../../../kit/composables/useLive.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFormat } from '../../composables/useFormat.ts'

/** Names of people in a list, in the language of the page. */
export interface Names {
  count: number
  /** e.g. `Ann, Ben and Eve`; empty: nobody. */
  text: string
}

/** People in a room, live. */
export function useRoomPeople(roomId: string): {
  people: ComputedRef<ReadonlyMap<string, string>>
  names: ComputedRef<Names>
  listed: (names: readonly string[]) => Names
} {
  const client = useConsole()
  const { list } = useFormat()
  const { value, refresh } = useLive(client, () => client.call('rooms.get', { room_id: roomId }))
  const soon = collected(() => void refresh(), 100)
  onScopeDispose(
    client.on('rooms.changed', ({ room_ids, all }) => {
      if (all || room_ids.includes(roomId)) soon()
    }),
  )
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

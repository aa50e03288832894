import { computed, onMounted, ref, shallowRef } from 'vue'
import { useRoute } from 'vue-router'
import { useConsole } from '../../composables/useConsole.ts'
import { useRefresh } from '../../live/useRefresh.ts'
import { keyOf } from './streams.ts'
import type { RecordingSource } from '../../../../shared/domain/recordings.ts'

/** Maximum number of streams on the page: more cannot be played on one machine. */
const maxChosen = 50

/** The chosen streams: those of the page's address (`stream`, `room` or `user`), else the latest one. */
export function useChosenSources() {
  const client = useConsole()
  const { query } = useRoute()
  const chosen = shallowRef<readonly RecordingSource[]>([])
  const ready = ref(false)
  const error = ref<unknown>(null)
  const total = ref(0)

  const text = (value: unknown): string[] =>
    [value].flat().filter((one) => typeof one === 'string' && one !== '') as string[]

  async function load(): Promise<void> {
    const [room] = text(query.room)
    const [user] = text(query.user)
    const keys = new Set(text(query.stream))
    try {
      const latest = await client.call('recordings.sources', { limit: 100 })
      total.value = latest.total
      if (room !== undefined) {
        const ofRoom = await client.call('recordings.sources', { room_ids: [room], limit: maxChosen })
        chosen.value = ofRoom.items
      } else if (user !== undefined) {
        const found = await client.call('recordings.sources', { search: user, limit: 100 })
        chosen.value = found.items.filter(({ user_id }) => user_id === user).slice(0, maxChosen)
      } else if (keys.size > 0) {
        const rooms = [...keys].map((key) => decodeURIComponent(key.split('/')[0] ?? ''))
        const found = await client.call('recordings.sources', {
          room_ids: [...new Set(rooms)].slice(0, 50),
          limit: 200,
        })
        chosen.value = found.items.filter((source) => keys.has(keyOf(source))).slice(0, maxChosen)
      } else chosen.value = latest.items.slice(0, 1)
      ready.value = true
      error.value = null
    } catch (reason) {
      error.value = reason
    }
  }

  onMounted(load)
  // Once something is recorded, or the connection is back.
  useRefresh('recordings.sources', async () => {
    if (chosen.value.length === 0) await load()
  })

  return {
    chosen,
    ready,
    /** Error of the latest reading; null: it succeeded. */
    error,
    load,
    /** Whether there are recordings that this caller may watch. */
    any: computed(() => total.value > 0),
    choose: (sources: readonly RecordingSource[]): void => {
      chosen.value = sources.slice(0, maxChosen)
    },
  }
}

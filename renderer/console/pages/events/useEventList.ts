import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import type { Ref } from 'vue'
import { type EventEntry, type EventFilter, eventMatcher } from '../../../../shared/console/events.ts'
import { useConsole } from '../../composables/useConsole.ts'

/** Entries per request. */
const pageSize = 200
/** Entries kept in the page; the log holds more. */
const pageBound = 20_000

/** The event log, newest first. While `held`, new entries wait; the displayed ones stay. */
export function useEventList(filter: Ref<EventFilter>, held: Ref<boolean>) {
  const client = useConsole()
  const items = shallowRef<readonly EventEntry[]>([])
  const waiting = shallowRef<readonly EventEntry[]>([])
  const counts = ref({ kept: 0, since: 0, lost: 0 })
  const error = shallowRef<unknown>(null)
  const ready = ref(false)
  const version = ref(0)
  /** Position of the oldest loaded entry; 0: nothing older. */
  const next = ref(0)
  const reading = ref(false)
  let matching = eventMatcher(filter.value)
  let newest = 0
  let generation = 0

  function replace(entries: readonly EventEntry[]): void {
    items.value = entries
    waiting.value = []
    newest = entries[0]?.seq ?? 0
    version.value++
  }

  async function read(): Promise<void> {
    const mine = ++generation
    matching = eventMatcher(filter.value)
    try {
      const answer = await client.call('events.list', { ...filter.value, limit: pageSize })
      if (mine !== generation) return
      counts.value = { kept: answer.kept, since: answer.since, lost: answer.lost }
      next.value = answer.next
      replace(answer.items)
      error.value = null
      ready.value = true
    } catch (reason) {
      if (mine === generation) error.value = reason
    }
  }

  /** Loads older entries after the present ones. */
  async function older(): Promise<void> {
    if (reading.value || next.value === 0 || items.value.length >= pageBound) return
    reading.value = true
    const mine = generation
    const answer = await client
      .call('events.list', { ...filter.value, before: next.value, limit: pageSize })
      .catch(() => null)
    reading.value = false
    if (!answer || mine !== generation) return
    items.value = [...items.value, ...answer.items]
    next.value = answer.next
    version.value++
  }

  /** Shows the waiting entries. */
  function release(): void {
    if (waiting.value.length === 0) return
    items.value = [...waiting.value, ...items.value].slice(0, pageBound)
    waiting.value = []
    version.value++
  }

  const stops = [
    client.on('events.added', (added) => {
      counts.value = { ...counts.value, kept: counts.value.kept + added.items.length }
      const fresh = added.items.filter((entry) => entry.seq > newest && matching(entry)).sort((a, b) => b.seq - a.seq)
      if (fresh.length === 0) return
      newest = fresh[0]?.seq ?? newest
      waiting.value = [...fresh, ...waiting.value].slice(0, pageBound)
      if (!held.value) release()
    }),
    client.onReconnect(() => void read()),
  ]
  onScopeDispose(() => stops.forEach((stop) => void stop()))
  watch(filter, () => void read(), { immediate: true, deep: true })
  watch(held, (now) => !now && release())

  return { items, waiting, counts, error, ready, version, next, reading, read, older, release }
}

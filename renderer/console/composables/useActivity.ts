import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import type { Ref } from 'vue'
import { activityMatcher } from '../../../shared/console/activity.ts'
import type { ActivityEntry, ActivityFilter } from '../../../shared/console/activity.ts'
import { useConsole } from './useConsole.ts'

export type { ActivityFilter }

/** Entries kept in the page; the journal itself may hold more. */
const pageBound = 20_000
/** Entries per request: the controller's maximum. */
const pageSize = 500

/** Tells whether an entry matches, like the controller, for the entries that it pushes. */
export function matches(entry: ActivityEntry, filter: ActivityFilter): boolean {
  return activityMatcher(filter)(entry)
}

/** The request journal, newest first. While `held`, new entries wait and are counted; the displayed ones stay. */
export function useActivity(filter: Ref<ActivityFilter>, held: Ref<boolean>) {
  const client = useConsole()
  const items = shallowRef<readonly ActivityEntry[]>([])
  const waiting = shallowRef<readonly ActivityEntry[]>([])
  const counts = ref({ kept: 0, capacity: 0, skipped: 0 })
  const error = shallowRef<unknown>(null)
  const ready = ref(false)
  /** Increases with every change of the displayed entries. */
  const version = ref(0)
  /** The journal holds older entries that match. */
  const more = ref(false)
  let matching = activityMatcher(filter.value)
  let newest = 0
  let generation = 0
  let reading = false
  let frame = 0

  const bound = () => Math.min(pageBound, Math.max(counts.value.capacity, pageSize))

  async function read(): Promise<void> {
    const mine = ++generation
    matching = activityMatcher(filter.value)
    try {
      const answer = await client.call('activity.list', { ...filter.value, limit: pageSize })
      if (mine !== generation) return
      counts.value = { kept: answer.kept, capacity: answer.capacity, skipped: answer.skipped }
      replace(answer.items)
      more.value = answer.items.length === pageSize
      error.value = null
      ready.value = true
    } catch (reason) {
      if (mine === generation) error.value = reason
    }
  }

  function replace(entries: readonly ActivityEntry[]): void {
    items.value = entries
    waiting.value = []
    newest = entries[0]?.seq ?? 0
    version.value++
  }

  /** Loads older entries after the present ones. */
  async function older(): Promise<void> {
    const last = items.value.at(-1)
    if (reading || !last || !more.value || items.value.length >= bound()) return
    reading = true
    const mine = generation
    const answer = await client
      .call('activity.list', { ...filter.value, before: last.seq, limit: pageSize })
      .catch(() => null)
    reading = false
    if (!answer || mine !== generation || items.value.at(-1)?.seq !== last.seq) return
    items.value = [...items.value, ...answer.items]
    more.value = answer.items.length === pageSize
    version.value++
  }

  /** Shows the waiting entries. */
  function release(): void {
    if (waiting.value.length === 0) return
    items.value = [...waiting.value, ...items.value].slice(0, bound())
    waiting.value = []
    version.value++
  }

  /** Combines several messages of one frame into one update. */
  function releaseSoon(): void {
    if (frame) return
    frame = requestAnimationFrame(() => {
      frame = 0
      if (!held.value) release()
    })
  }

  const stops = [
    client.on('activity.added', (added) => {
      counts.value = { ...counts.value, kept: added.kept, skipped: added.skipped }
      // Nothing kept: the journal was cleared.
      if (added.kept === 0) {
        more.value = false
        return replace([])
      }
      const fresh = added.items.filter((entry) => entry.seq > newest && matching(entry)).sort((a, b) => b.seq - a.seq)
      if (fresh.length === 0) return
      newest = fresh[0]?.seq ?? newest
      waiting.value = [...fresh, ...waiting.value].slice(0, bound())
      if (!held.value) releaseSoon()
    }),
    client.onReconnect(() => void read()),
    () => cancelAnimationFrame(frame),
  ]
  onScopeDispose(() => stops.forEach((stop) => void stop()))
  watch(filter, () => void read(), { immediate: true, deep: true })
  watch(held, (now) => !now && release())

  return { items, waiting, counts, error, ready, version, more, read, older, release }
}

import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import type { Ref } from 'vue'
import type { ActivityEntry } from '../../shared/console/activity.ts'
import type { ProcedureInput } from '../../shared/console/contract.ts'
import { useConsole } from './useConsole.ts'

export type ActivityFilter = Omit<ProcedureInput<'activity.list'>, 'before' | 'limit'>

/** Entries kept in the page; the journal itself holds more. */
const bound = 2_000

/** Does an entry match? As the controller decides it, for the entries that it pushes. */
export function matches(entry: ActivityEntry, filter: ActivityFilter): boolean {
  if (filter.api && entry.api !== filter.api) return false
  if (filter.operation && entry.operation !== filter.operation) return false
  if (filter.credential && entry.credential !== filter.credential) return false
  if (filter.room && entry.room !== filter.room) return false
  if (filter.client && entry.client !== filter.client) return false
  if (filter.outcome === 'ok' && entry.ret !== 0) return false
  if (filter.outcome === 'failed' && entry.ret === 0) return false
  if (typeof filter.outcome === 'number' && entry.ret !== filter.outcome) return false
  const search = filter.search?.trim().toLowerCase()
  return !search || JSON.stringify(entry).toLowerCase().includes(search)
}

/** The request journal, newest first. While `held`, what comes in waits and is counted. */
export function useActivity(filter: Ref<ActivityFilter>, held: Ref<boolean>) {
  const client = useConsole()
  const items = shallowRef<readonly ActivityEntry[]>([])
  const waiting = shallowRef<readonly ActivityEntry[]>([])
  const counts = ref({ kept: 0, capacity: 0, skipped: 0 })
  const error = shallowRef<unknown>(null)
  const ready = ref(false)
  const version = ref(0)
  const more = ref(false)
  let generation = 0

  async function read(): Promise<void> {
    const mine = ++generation
    try {
      const answer = await client.call('activity.list', { ...filter.value, limit: 500 })
      if (mine !== generation) return
      items.value = answer.items
      waiting.value = []
      counts.value = { kept: answer.kept, capacity: answer.capacity, skipped: answer.skipped }
      more.value = answer.items.length === 500
      error.value = null
      ready.value = true
      version.value++
    } catch (reason) {
      if (mine === generation) error.value = reason
    }
  }

  /** Reads older entries, to the end of those that are here. */
  async function older(): Promise<void> {
    const last = items.value.at(-1)
    if (!last || !more.value || items.value.length >= bound) return
    more.value = false
    const mine = generation
    const answer = await client
      .call('activity.list', { ...filter.value, before: last.seq, limit: 500 })
      .catch(() => null)
    if (!answer || mine !== generation) return
    items.value = [...items.value, ...answer.items]
    more.value = answer.items.length === 500
    version.value++
  }

  function release(): void {
    if (waiting.value.length === 0) return
    items.value = [...waiting.value, ...items.value].slice(0, bound)
    waiting.value = []
    version.value++
  }

  const stops = [
    client.on('activity.added', (added) => {
      counts.value = { ...counts.value, kept: added.kept, skipped: added.skipped }
      const newest = waiting.value[0]?.seq ?? items.value[0]?.seq ?? 0
      const fresh = added.items.filter((entry) => entry.seq > newest && matches(entry, filter.value))
      if (fresh.length === 0) return
      fresh.sort((a, b) => b.seq - a.seq)
      waiting.value = [...fresh, ...waiting.value].slice(0, bound)
      if (!held.value) release()
    }),
    client.onReconnect(() => void read()),
  ]
  onScopeDispose(() => stops.forEach((stop) => stop()))
  watch(filter, () => void read(), { immediate: true, deep: true })
  watch(held, (now) => !now && release())

  return { items, waiting, counts, error, ready, version, read, older, release }
}

import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import type { Ref } from 'vue'
import { eventMatcher } from '../../../../shared/console/event-matcher.ts'
import type { EventEntry, EventFilter } from '../../../../shared/domain/events.ts'
import { useConsole } from '../../composables/useConsole.ts'

/** Entries per request. */
const pageSize = 200
/** Entries kept in the page; the log holds more. */
const pageBound = 20_000
/** Matches after which a search stops by itself. */
const searchedAtOnce = 60
/** Requests after which a search stops by itself. */
const maxRequests = 20

/** A filter, and the test of the displayed text: the controller may return entries whose displayed text does not match. */
interface EventSearch {
  filter: EventFilter
  shows: (entry: EventEntry) => boolean
}

/** The event log, newest first. While `held`, new entries wait; the displayed ones stay. */
export function useEventList(wanted: Ref<EventSearch>, held: Ref<boolean>) {
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
  /** Number of entries that the present search has read. */
  const searched = ref(0)
  let matching = matcherOf(wanted.value)
  let newest = 0
  let generation = 0

  async function read(): Promise<void> {
    const mine = ++generation
    matching = matcherOf(wanted.value)
    try {
      await readPages(mine, undefined)
    } catch (reason) {
      if (mine !== generation) return
      error.value = reason
      reading.value = false
    }
  }

  /** Reads pages until enough entries match, and shows each at once. @param before undefined: from the newest entry */
  async function readPages(mine: number, before: number | undefined): Promise<void> {
    const { filter, shows } = wanted.value
    reading.value = true
    let matched = 0
    for (let requests = 0; requests < maxRequests; requests++) {
      const answer = await client.call('events.list', {
        ...filter,
        ...(before === undefined ? {} : { before }),
        limit: pageSize,
      })
      if (mine !== generation) return
      const found = answer.items.filter(shows)
      if (before === undefined) {
        counts.value = { kept: answer.kept, since: answer.since, lost: answer.lost }
        items.value = found
        waiting.value = []
        newest = answer.newest
        error.value = null
        ready.value = true
      } else items.value = [...items.value, ...found]
      version.value++
      matched += found.length
      before = next.value = answer.next
      searched.value = answer.next === 0 ? answer.kept : answer.newest - answer.next + 1
      if (before === 0 || matched >= searchedAtOnce) break
    }
    reading.value = false
  }

  /** Loads older entries after the present ones. */
  async function older(): Promise<void> {
    if (reading.value || next.value === 0 || items.value.length >= pageBound) return
    const mine = generation
    await readPages(mine, next.value).catch(() => {
      if (mine === generation) reading.value = false
    })
  }

  /** Stops a search; `older` continues it. */
  function stop(): void {
    generation++
    reading.value = false
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
  onScopeDispose(() => stops.forEach((unsubscribe) => void unsubscribe()))
  watch(wanted, () => void read(), { immediate: true })
  watch(held, (now) => !now && release())

  return { items, waiting, counts, error, ready, version, next, reading, searched, read, older, stop, release }
}

function matcherOf({ filter, shows }: EventSearch): (entry: EventEntry) => boolean {
  const matches = eventMatcher(filter)
  return (entry) => matches(entry) && shows(entry)
}

import { computed, onScopeDispose, ref, type Ref, shallowRef, watch } from 'vue'
import type { EventName } from '../../../shared/console/event-names.ts'
import type { EventPayload } from '../../../shared/console/contract.ts'
import { useConsole } from '../composables/useConsole.ts'
import { useEvent } from './useEvent.ts'

/** Maximum number of entries kept in the page; the controller may store more. */
const maxEntries = 20_000
/** Number of matches after which a search pauses. */
const searchedAtOnce = 60
/** Number of requests after which a search pauses. */
const maxRequests = 20

/** Events that contain new entries. */
type FeedEvent = {
  [N in EventName]: EventPayload<N> extends { items: { seq: number }[] } ? N : never
}[EventName]
type FeedEntry<N extends FeedEvent> = EventPayload<N>['items'][number]

/** One page of a feed, newest first. */
interface FeedPage<T> {
  items: readonly T[]
  /** Value of `before` for the next page; 0: no older entries exist. */
  next: number
  /** Number of the newest entry at the time of the answer. */
  newest: number
}

/** Source of the entries of a feed. */
interface FeedSource<N extends FeedEvent, P> {
  /** Event that contains new entries. */
  event: N
  /** Reads a page. @param before number of the entry after it; undefined: reads the newest page */
  read: (before: number | undefined) => Promise<P>
  /** Returns whether an entry is listed. A new function causes a new read. */
  matches: Readonly<Ref<(entry: FeedEntry<N>) => boolean>>
  /** While true, new entries are held back, and the list does not change. */
  held?: Readonly<Ref<boolean>>
}

/**
 * Numbered entries, newest first: pages from the controller and new entries from an event, without duplicates, in the
 * order of their numbers. They are read at the start and after each reconnection, until the scope ends.
 */
export function useFeed<N extends FeedEvent, P extends FeedPage<FeedEntry<N>>>(source: FeedSource<N, P>) {
  type Entry = FeedEntry<N>
  const client = useConsole()
  const { event, matches, held = ref(false) } = source
  const items = shallowRef<readonly Entry[]>([])
  const waiting = shallowRef<readonly Entry[]>([])
  /** Latest page. */
  const page = shallowRef<P>()
  const error = ref<unknown>(null)
  const reading = ref(false)
  /** Position of the oldest entry that was read; 0: there is nothing older. */
  const next = ref(0)
  /** Number of the newest known entry, whether it matches or not. */
  const newest = ref(0)
  let generation = 0
  /** Entries that arrived while the newest page is being read; undefined: it is not being read. */
  let early: Entry[] | undefined

  /**
   * Reads pages until enough entries match, and shows each page immediately. @param from undefined: from the newest
   * entry
   */
  async function readPages(from: number | undefined): Promise<void> {
    const mine = from === undefined ? ++generation : generation
    let before = from
    let matched = 0
    reading.value = true
    if (from === undefined) early ??= []
    try {
      for (let requests = 0; requests < maxRequests; requests++) {
        const answer = await source.read(before)
        if (mine !== generation) return
        const found = answer.items.filter((entry) => matches.value(entry))
        page.value = answer
        if (before === undefined) begin(found, answer.newest)
        else items.value = [...items.value, ...found]
        matched += found.length
        before = next.value = answer.next
        if (before === 0 || matched >= searchedAtOnce) break
      }
      error.value = null
    } catch (reason) {
      if (mine !== generation) return
      // A failed read of older entries is repeated on the next scroll.
      if (from === undefined) error.value = reason
      addEarly()
    }
    reading.value = false
  }

  function begin(entries: readonly Entry[], last: number): void {
    items.value = entries
    waiting.value = []
    newest.value = last
    addEarly()
  }

  function addEarly(): void {
    const entries = early ?? []
    early = undefined
    add(entries)
  }

  /** Adds entries that are not in the list. */
  function add(entries: readonly Entry[]): void {
    if (early !== undefined) {
      early.push(...entries)
      return
    }
    const fresh = entries.filter(({ seq }) => seq > newest.value).sort((a, b) => b.seq - a.seq)
    newest.value = fresh[0]?.seq ?? newest.value
    const listed = fresh.filter((entry) => matches.value(entry))
    if (listed.length === 0) return
    waiting.value = [...listed, ...waiting.value].slice(0, maxEntries)
    if (!held.value) release()
  }

  /** Shows the entries that were held back. */
  function release(): void {
    if (waiting.value.length === 0) return
    items.value = [...waiting.value, ...items.value].slice(0, maxEntries)
    waiting.value = []
  }

  /** Reads everything again. */
  const read = (): Promise<void> => readPages(undefined)

  /** Reads older entries and appends them. */
  async function older(): Promise<void> {
    if (!reading.value && next.value > 0 && items.value.length < maxEntries) await readPages(next.value)
  }

  /** Empties the list: the controller has removed its entries. */
  function clear(): void {
    items.value = []
    waiting.value = []
    next.value = 0
  }

  /** Stops a search; `older` resumes it. */
  function stop(): void {
    generation++
    reading.value = false
    addEarly()
  }

  useEvent(event, ({ items: entries }: { items: Entry[] }) => add(entries))
  onScopeDispose(client.onReconnect(() => void read()))
  onScopeDispose(() => generation++)
  watch(matches, () => void read(), { immediate: true })
  watch(held, (now) => !now && release(), { flush: 'sync' })
  const ready = computed(() => page.value !== undefined)
  return { items, waiting, page, next, newest, error, ready, reading, read, older, clear, stop, release }
}

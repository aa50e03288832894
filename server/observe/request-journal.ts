import type { z } from 'zod'
import { type ActivityEntry, activityMatcher, type activityProcedures } from '../../shared/console/activity.ts'
import type { Observation, RequestObserver } from './observation.ts'
import type { KnownNames } from './redaction/redacted-parameters.ts'
import { shownRequest } from './redaction/request.ts'

type ListInput = z.output<(typeof activityProcedures)['activity.list']['input']>
/** Criteria for entries; an absent criterion matches all entries. */
type ActivityFilter = z.output<(typeof activityProcedures)['activity.export']['input']>
/**
 * Batch of new entries, sent at most four times per second. A batch with no kept entries means that the journal was
 * cleared.
 */
export interface ActivityAdded {
  items: ActivityEntry[]
  kept: number
  skipped: number
}

interface RequestJournalOptions {
  /** Returns the maximum number of entries; called once a second. */
  capacity: () => number
  /** Names of this site, which may be shown. */
  known: KnownNames
  /**
   * Maximum numbers of entries kept per second; further requests are counted as skipped. A limit per second prevents a
   * flood from displacing an hour of failures at once.
   */
  successesPerSecond?: number
  failuresPerSecond?: number
  /** Returns milliseconds of a monotonic clock. */
  monotonic?: () => number
}

/** Minimum interval between notifications, in ms. */
const reportEveryMs = 250
const secondMs = 1_000

/**
 * The last requests, in memory, up to a limit. Values that are not known to be harmless are removed first, so that no
 * secret stays in memory. Only kept requests are redacted, and their number per second is limited.
 */
export class RequestJournal implements RequestObserver {
  readonly #options: Required<RequestJournalOptions>
  readonly #entries: BoundedRing<ActivityEntry>
  #seq = 0
  #skipped = 0
  #secondBegan = Number.NEGATIVE_INFINITY
  #successes = 0
  #failures = 0
  #unreported: ActivityEntry[] = []
  #timer: NodeJS.Timeout | undefined
  readonly #listeners = new Set<(added: ActivityAdded) => void>()

  constructor(options: RequestJournalOptions) {
    this.#options = {
      successesPerSecond: 200,
      failuresPerSecond: 500,
      monotonic: () => performance.now(),
      ...options,
    }
    this.#entries = new BoundedRing(Math.max(1, options.capacity()))
  }

  /** Keeps a request; above the limit of this second, counts the request as skipped. O(1). */
  observe(observation: Observation): void {
    const now = this.#options.monotonic()
    if (now - this.#secondBegan >= secondMs) {
      this.#secondBegan = now
      this.#successes = 0
      this.#failures = 0
      this.#entries.fit(Math.max(1, this.#options.capacity()))
    }
    const keep =
      observation.ret === 0
        ? this.#successes++ < this.#options.successesPerSecond
        : this.#failures++ < this.#options.failuresPerSecond
    if (!keep) {
      this.#skipped++
      return
    }
    this.#add(this.#entryOf(observation))
  }

  get kept(): number {
    return this.#entries.length
  }

  get capacity(): number {
    return this.#entries.capacity
  }

  /** Number of requests skipped since the start because of the rate limit. */
  get skipped(): number {
    return this.#skipped
  }

  /** Returns the newest matching entries, newest first. */
  list({ before, limit, ...filter }: ListInput): {
    items: ActivityEntry[]
    kept: number
    capacity: number
    skipped: number
  } {
    const matches = activityMatcher(filter)
    const items: ActivityEntry[] = []
    for (let i = this.#entries.length - 1; i >= 0 && items.length < limit; i--) {
      const entry = this.#entries.at(i)
      if (entry !== undefined && (before === undefined || entry.seq < before) && matches(entry)) items.push(entry)
    }
    return { items, kept: this.kept, capacity: this.capacity, skipped: this.#skipped }
  }

  /** Returns the matching entries as NDJSON, oldest first. */
  export(filter: ActivityFilter): string {
    const matches = activityMatcher(filter)
    let text = ''
    for (let i = 0; i < this.#entries.length; i++) {
      const entry = this.#entries.at(i)
      if (entry !== undefined && matches(entry)) text += `${JSON.stringify(entry)}\n`
    }
    return text
  }

  /** Removes every entry and notifies listeners; numbering continues. */
  clear(): void {
    this.#entries.clear()
    this.#unreported = []
    clearTimeout(this.#timer)
    this.#notify()
  }

  /** Registers a listener that is called with batches of new entries. Returns the unsubscribe function. */
  onAdded(listener: (added: ActivityAdded) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Stops notifications and removes all listeners. */
  close(): void {
    clearTimeout(this.#timer)
    this.#listeners.clear()
  }

  #entryOf(observation: Observation): ActivityEntry {
    return {
      seq: ++this.#seq,
      at: observation.at,
      api: observation.api,
      operation: observation.operation,
      ret: observation.ret,
      duration: Math.round(observation.duration * 1000) / 1000,
      client: observation.client,
      ...shownRequest(observation, this.#options.known),
    }
  }

  #add(entry: ActivityEntry): void {
    this.#entries.add(entry)
    if (this.#listeners.size === 0) return
    this.#unreported.push(entry)
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#notify(), reportEveryMs)
      this.#timer.unref()
    }
  }

  #notify(): void {
    this.#timer = undefined
    const items = this.#unreported
    this.#unreported = []
    for (const listener of this.#listeners) listener({ items, kept: this.kept, skipped: this.#skipped })
  }
}

/** Keeps the newest items, up to a maximum. In a full list, a new item overwrites the oldest item. */
class BoundedRing<T> {
  #items: T[] = []
  /** Index of the oldest item when the list is full. */
  #head = 0
  #capacity: number

  /** @param capacity at least 1 */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get length(): number {
    return this.#items.length
  }

  get capacity(): number {
    return this.#capacity
  }

  add(item: T): void {
    if (this.#items.length < this.#capacity) this.#items.push(item)
    else {
      this.#items[this.#head] = item
      this.#head = (this.#head + 1) % this.#capacity
    }
  }

  /** Returns the i-th oldest item. */
  at(i: number): T | undefined {
    return this.#items[(this.#head + i) % this.#items.length]
  }

  /** Changes the maximum; the newest items stay. */
  fit(capacity: number): void {
    if (capacity === this.#capacity) return
    const ordered = [...this.#items.slice(this.#head), ...this.#items.slice(0, this.#head)]
    this.#items = ordered.slice(-capacity)
    this.#head = 0
    this.#capacity = capacity
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }
}

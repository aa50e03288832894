import type { z } from 'zod'
import { type ActivityEntry, activityMatcher, type activityProcedures } from '../../shared/console/activity.ts'
import type { Observation, RequestObserver } from './observation.ts'
import type { KnownNames } from './redaction/redacted-parameters.ts'
import { shownRequest } from './redaction/request.ts'

type ListInput = z.output<(typeof activityProcedures)['activity.list']['input']>
/** Which entries are wanted; what is left out is not asked for. */
type ActivityFilter = z.output<(typeof activityProcedures)['activity.export']['input']>
/** Event for a console: at most four times a second. Nothing kept: the journal was cleared. */
export interface ActivityAdded {
  items: ActivityEntry[]
  kept: number
  skipped: number
}

/** Needs of the journal. */
interface RequestJournalOptions {
  /** The bound; asked once a second. */
  capacity: () => number
  /** Names of this site, which may be shown as they are. */
  known: KnownNames
  /** Kept per second at most; further ones are counted as skipped. A rate, so that a flood never pushes an hour of failures out at once. */
  successesPerSecond?: number
  failuresPerSecond?: number
  /** Milliseconds of a clock that is never set. */
  monotonic?: () => number
}

/** Between two messages to those who listen, milliseconds. */
const reportEveryMs = 250
const secondMs = 1_000

/**
 * The last requests, in memory and limited. Values that are not known to be harmless are removed first, so that no secret stays in memory; only kept requests cost that, and their
 * number per second is limited.
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

  /** Keeps a request, or counts it as skipped when too many came within this second. O(1). */
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

  /** Entries now. */
  get kept(): number {
    return this.#entries.length
  }

  get capacity(): number {
    return this.#entries.capacity
  }

  /** Requests left out since the start because too many came at once. */
  get skipped(): number {
    return this.#skipped
  }

  /** The newest entries that match, newest first. */
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

  /** The entries that match as NDJSON, oldest first. */
  export(filter: ActivityFilter): string {
    const matches = activityMatcher(filter)
    let text = ''
    for (let i = 0; i < this.#entries.length; i++) {
      const entry = this.#entries.at(i)
      if (entry !== undefined && matches(entry)) text += `${JSON.stringify(entry)}\n`
    }
    return text
  }

  /** Forgets every entry and tells so; numbers go on. */
  clear(): void {
    this.#entries.clear()
    this.#unreported = []
    clearTimeout(this.#timer)
    this.#notify()
  }

  /** Calls the listener with new entries, collected. Returns the unsubscribe function. */
  onAdded(listener: (added: ActivityAdded) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells nobody any more. */
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

/** The newest items of a bounded list: adding one to a full list overwrites the oldest. */
class BoundedRing<T> {
  #items: T[] = []
  /** Index of the oldest one once it is full. */
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

  /** The i-th oldest. */
  at(i: number): T | undefined {
    return this.#items[(this.#head + i) % this.#items.length]
  }

  /** Takes on a new bound; the newest items stay. */
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

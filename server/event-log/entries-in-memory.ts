import type { EventEntry } from '../../shared/domain/events.ts'
import type { EventContent } from './entry-line.ts'

/** Minimum number of entries kept in memory. */
export const recentLength = 1_000

/** The newest entries of the log, in memory, so that most queries do not read from disk. */
export class RecentEntries {
  readonly #entries: EventEntry[]

  constructor(entries: EventEntry[]) {
    this.#entries = entries
  }

  /** Adds entries that follow the existing entries. */
  add(entries: readonly EventEntry[]): void {
    this.#entries.push(...entries)
    if (this.#entries.length > 2 * recentLength) this.#entries.splice(0, this.#entries.length - recentLength)
  }

  /**
   * Finds entries before a number, newest first. `last` is the number of the oldest inspected entry; `before` if none
   * was inspected.
   */
  find(before: number, limit: number, matches: (entry: EventEntry) => boolean): { items: EventEntry[]; last: number } {
    const items: EventEntry[] = []
    let last = before
    for (let index = this.#entries.length - 1; index >= 0 && items.length < limit; index--) {
      const entry = this.#entries[index]
      if (entry === undefined || entry.seq >= before) continue
      last = entry.seq
      if (matches(entry)) items.push(entry)
    }
    return { items, last }
  }

  /** Finds entries after a number, oldest first; undefined: some of these entries may no longer be in memory. */
  after(seq: number, limit: number): EventEntry[] | undefined {
    const [oldest] = this.#entries
    if (oldest === undefined || oldest.seq > seq + 1) return undefined
    const from = this.#entries.findIndex((entry) => entry.seq > seq)
    return from === -1 ? [] : this.#entries.slice(from, from + limit)
  }

  /** Removes entries before a number. Removes nothing if all entries are older. */
  forgetBefore(seq: number): void {
    const firstKept = this.#entries.findIndex((entry) => entry.seq >= seq)
    if (firstKept > 0) this.#entries.splice(0, firstKept)
  }
}

/** Queue of events that are not written yet. Events above its limit are lost, but counted. */
export class WaitingEvents {
  readonly #max: number
  readonly #events: EventContent[] = []
  #lost = 0
  /** Number of lost events that no entry reports yet. */
  #unreported = 0

  /** @param max maximum number of pending events */
  constructor(max: number) {
    this.#max = max
  }

  /** Number of events lost since the start. */
  get lost(): number {
    return this.#lost
  }

  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#unreported === 0
  }

  /** Returns whether the queue accepts a further event. If the queue is full, counts the event as lost. */
  hasRoom(): boolean {
    if (this.#events.length < this.#max) return true
    this.#lost++
    this.#unreported++
    return false
  }

  add(event: EventContent): void {
    this.#events.push(event)
  }

  /**
   * Returns the oldest events, at most `length`. `gap` is the number of lost events to report after this batch: lost
   * events came after all pending events.
   */
  next(length: number): { batch: EventContent[]; gap: number } {
    const batch = this.#events.slice(0, length)
    return { batch, gap: batch.length === this.#events.length ? this.#unreported : 0 }
  }

  /** Removes written events that `next` returned. */
  written(count: number, gap: number): void {
    this.#events.splice(0, count)
    this.#unreported -= gap
  }
}

import type { EventEntry } from '../../shared/domain/events.ts'
import type { EventContent } from './entry-line.ts'

/** Entries that stay in memory. */
export const recentLength = 1_000

/** The newest entries of the log, in memory, so that most queries read nothing of the disk. */
export class RecentEntries {
  readonly #entries: EventEntry[]

  constructor(entries: EventEntry[]) {
    this.#entries = entries
  }

  /** Adds entries that follow those that are here. */
  add(entries: readonly EventEntry[]): void {
    this.#entries.push(...entries)
    if (this.#entries.length > 2 * recentLength) this.#entries.splice(0, this.#entries.length - recentLength)
  }

  /** Finds entries before a number, newest first. `last` is the number of the oldest one that was inspected; `before` where none was. */
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

  /** Finds entries after a number, oldest first; undefined where older ones than those in memory may be among them. */
  after(seq: number, limit: number): EventEntry[] | undefined {
    const [oldest] = this.#entries
    if (oldest === undefined || oldest.seq > seq + 1) return undefined
    const from = this.#entries.findIndex((entry) => entry.seq > seq)
    return from === -1 ? [] : this.#entries.slice(from, from + limit)
  }

  /** Forgets entries before a number; where none is as new as that, all stay. */
  forgetBefore(seq: number): void {
    const firstKept = this.#entries.findIndex((entry) => entry.seq >= seq)
    if (firstKept > 0) this.#entries.splice(0, firstKept)
  }
}

/** Events that are not written yet, up to a bound; further ones are counted, and lost. */
export class WaitingEvents {
  readonly #max: number
  readonly #events: EventContent[] = []
  #lost = 0
  /** Lost events that no entry reports yet. */
  #unreported = 0

  /** @param max events that wait at most */
  constructor(max: number) {
    this.#max = max
  }

  /** Events that were lost since the start. */
  get lost(): number {
    return this.#lost
  }

  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#unreported === 0
  }

  /** Whether another one has room; where not, it counts as lost. */
  hasRoom(): boolean {
    if (this.#events.length < this.#max) return true
    this.#lost++
    this.#unreported++
    return false
  }

  add(event: EventContent): void {
    this.#events.push(event)
  }

  /** The oldest ones, at most `length`. `gap` counts the lost events to report behind them: those came after everything that waits. */
  next(length: number): { batch: EventContent[]; gap: number } {
    const batch = this.#events.slice(0, length)
    return { batch, gap: batch.length === this.#events.length ? this.#unreported : 0 }
  }

  /** Removes what `next` returned, once it is written. */
  written(count: number, gap: number): void {
    this.#events.splice(0, count)
    this.#unreported -= gap
  }
}

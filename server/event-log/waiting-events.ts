import type { EventContent } from './entry-line.ts'

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

import { monotonic } from '../system/time.ts'
/**
 * Tracks flushes: when the current one began, what delays the next, and which callers wait for its end. Times are
 * values of `monotonic()`; 0: none.
 */
export class FlushProgress {
  #flushStart = 0
  #stalledAt = 0
  #stallEnd: (() => void) | undefined
  #awaySince = 0
  #waiting: (() => void)[] = []
  #lastFlush = 0

  /** Duration of the last successful flush, in milliseconds. */
  get lastFlush(): number {
    return this.#lastFlush
  }

  get flushing(): boolean {
    return this.#flushStart !== 0
  }

  get stalled(): boolean {
    return this.#stalledAt !== 0
  }

  /** Since when the storage has not answered; 0: no answer is outstanding. */
  get waitingSince(): number {
    let since = this.#flushStart
    for (const start of [this.#stalledAt, this.#awaySince])
      if (start !== 0 && (since === 0 || start < since)) since = start
    return since
  }

  /** Whether nothing can be stored now: the lab blocks flushes, or the storage is unreachable. */
  get blocked(): boolean {
    return this.#stalledAt !== 0 || this.#awaySince !== 0
  }

  began(): void {
    this.#flushStart = monotonic()
  }

  failed(): void {
    this.#flushStart = 0
  }

  succeeded(): void {
    this.#lastFlush = monotonic() - this.#flushStart
    this.#flushStart = 0
  }

  /** Records that the storage is unreachable, or reachable again. */
  away(away: boolean): void {
    if (!away) this.#awaySince = 0
    else if (this.#awaySince === 0) this.#awaySince = monotonic()
  }

  /** Lab: blocks flushes until called with false. */
  stall(stalled: boolean): void {
    if (stalled && this.#stalledAt === 0) this.#stalledAt = monotonic()
    else if (!stalled && this.#stalledAt !== 0) {
      this.#stalledAt = 0
      this.#stallEnd?.()
      this.#stallEnd = undefined
      if (!this.flushing) this.ended()
    }
  }

  /** Resolves when the lab unblocks flushes. */
  stallEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#stallEnd = resolve
    })
  }

  nextFlush(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Resolves all promises of `nextFlush`. */
  ended(): void {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

import { monotonic } from '../system/time.ts'
/** Clock of the flushes: when the one under way began, what delays the next, and who waits for its end. Times are those of `monotonic()`; 0 is never. */
export class FlushProgress {
  #flushStart = 0
  #stalledAt = 0
  #stallEnd: (() => void) | undefined
  #awaySince = 0
  #waiting: (() => void)[] = []
  #lastFlush = 0

  /** Milliseconds of the last flush that succeeded. */
  get lastFlush(): number {
    return this.#lastFlush
  }

  get flushing(): boolean {
    return this.#flushStart !== 0
  }

  get stalled(): boolean {
    return this.#stalledAt !== 0
  }

  /** Since when the storage has not answered; 0 when it owes no answer. */
  get waitingSince(): number {
    let since = this.#flushStart
    for (const start of [this.#stalledAt, this.#awaySince])
      if (start !== 0 && (since === 0 || start < since)) since = start
    return since
  }

  /** Nothing can be stored now: the lab holds the flushes back, or the storage cannot be reached. */
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

  /** The storage is away, or can be reached again. */
  away(away: boolean): void {
    if (!away) this.#awaySince = 0
    else if (this.#awaySince === 0) this.#awaySince = monotonic()
  }

  /** Lab: holds flushes back until called with false. */
  stall(stalled: boolean): void {
    if (stalled && this.#stalledAt === 0) this.#stalledAt = monotonic()
    else if (!stalled && this.#stalledAt !== 0) {
      this.#stalledAt = 0
      this.#stallEnd?.()
      this.#stallEnd = undefined
      if (!this.flushing) this.ended()
    }
  }

  /** Resolves when the lab lets flushes go on. */
  stallEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#stallEnd = resolve
    })
  }

  /** Resolves when the flush under way has ended. */
  nextFlush(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Wakes everyone who waits for the end of a flush. */
  ended(): void {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

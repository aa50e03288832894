import type { FlushGate } from '../storage.ts'
import { monotonic } from '../system/time.ts'

/**
 * Tracks flushes: the start of the current flush, delays of the next flush, and the callers that wait for the end of a
 * flush. Times are values of `monotonic()`; 0: none.
 */
export class FlushProgress {
  #flushStart = 0
  #awaySince = 0
  #waiting: (() => void)[] = []
  #lastFlush = 0
  readonly #gate: FlushGate | undefined

  constructor(gate: FlushGate | undefined) {
    this.#gate = gate
  }

  /** Duration of the last successful flush, in milliseconds. */
  get lastFlush(): number {
    return this.#lastFlush
  }

  get flushing(): boolean {
    return this.#flushStart !== 0
  }

  /** Promise that resolves when the gate opens; undefined: the gate is open. */
  get held(): Promise<void> | undefined {
    return this.#gate?.closed?.opened
  }

  /** Time since which the storage has not answered; 0: no answer is outstanding. */
  get waitingSince(): number {
    let since = this.#flushStart
    for (const start of [this.#gate?.closed?.since ?? 0, this.#awaySince])
      if (start !== 0 && (since === 0 || start < since)) since = start
    return since
  }

  /** Whether nothing can be stored now: the gate blocks flushes, or the storage is unreachable. */
  get blocked(): boolean {
    return this.#gate?.closed !== undefined || this.#awaySince !== 0
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

  /** Resolves when the current flush has ended, or when the gate opens. */
  nextFlush(): Promise<void> {
    const { held } = this
    const ended = new Promise<void>((resolve) => this.#waiting.push(resolve))
    return held === undefined ? ended : Promise.race([ended, held])
  }

  /** Resolves all promises of `nextFlush`. */
  ended(): void {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

/**
 * Moment by which an operation ends. It is made once, where a request begins, and passed down: each inner step waits for what is left of it, so that the phase that the operation
 * has reached decides the answer, and not which of several timers fires first.
 */
export class Deadline {
  /** On the clock of `performance.now()`. */
  readonly until: number
  /** Ends the operation early, because its caller has given up. */
  readonly signal: AbortSignal

  private constructor(until: number, signal: AbortSignal) {
    this.until = until
    this.signal = signal
  }

  /** The moment in so many milliseconds. @param signal ends the operation early */
  static in(milliseconds: number, signal = new AbortController().signal): Deadline {
    return new Deadline(performance.now() + milliseconds, signal)
  }

  /** Whole milliseconds left; 0 when it has passed. */
  get leftMs(): number {
    return Math.max(0, Math.ceil(this.until - performance.now()))
  }

  get hasPassed(): boolean {
    return this.leftMs === 0
  }

  /** This deadline, or so many milliseconds from now if that is earlier: for a step that may not use up all of the time. */
  atMost(milliseconds: number): Deadline {
    return new Deadline(Math.min(this.until, performance.now() + milliseconds), this.signal)
  }

  /** The same moment for a step that another signal ends. */
  with(signal: AbortSignal): Deadline {
    return new Deadline(this.until, signal)
  }
}

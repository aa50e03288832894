/**
 * Time by which an operation must end. It is created once at the start of a request and passed down; each inner step
 * waits for the remaining time. The error therefore depends on the current phase of the operation, not on which of
 * several timers fires first.
 */
export class Deadline {
  /** Time of the deadline, in milliseconds of `performance.now()`. */
  readonly until: number
  /** Signal that ends the operation early, because its caller no longer needs the result. */
  readonly signal: AbortSignal

  private constructor(until: number, signal: AbortSignal) {
    this.until = until
    this.signal = signal
  }

  /** Returns a deadline after a number of milliseconds. @param signal ends the operation early */
  static in(milliseconds: number, signal = new AbortController().signal): Deadline {
    return new Deadline(performance.now() + milliseconds, signal)
  }

  /** Remaining time in whole milliseconds; 0: the deadline has passed. */
  get leftMs(): number {
    return Math.max(0, Math.ceil(this.until - performance.now()))
  }

  get hasPassed(): boolean {
    return this.leftMs === 0
  }

  /**
   * Returns a deadline after the given number of milliseconds, but no later than this one, for a step that may not use
   * all of the time.
   */
  atMost(milliseconds: number): Deadline {
    return new Deadline(Math.min(this.until, performance.now() + milliseconds), this.signal)
  }

  /** Returns the same deadline with another signal. */
  with(signal: AbortSignal): Deadline {
    return new Deadline(this.until, signal)
  }
}

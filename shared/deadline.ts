/**
 * Time by which an operation must end. It is created once at the start of a request and passed down; each inner step
 * waits for the remaining time. The error thus depends on the current phase of the operation, not on which of several
 * timers fires first.
 */
export class Deadline {
  /** In milliseconds of `performance.now()`. */
  readonly until: number
  /** Ends the operation early because its caller has given up. */
  readonly signal: AbortSignal

  private constructor(until: number, signal: AbortSignal) {
    this.until = until
    this.signal = signal
  }

  /** Returns a deadline after a number of milliseconds. @param signal ends the operation early */
  static in(milliseconds: number, signal = new AbortController().signal): Deadline {
    return new Deadline(performance.now() + milliseconds, signal)
  }

  /** Whole milliseconds left; 0 if it has passed. */
  get leftMs(): number {
    return Math.max(0, Math.ceil(this.until - performance.now()))
  }

  get hasPassed(): boolean {
    return this.leftMs === 0
  }

  /**
   * Returns this deadline, or an earlier one after the given number of milliseconds, for a step that may not use all of
   * the time.
   */
  atMost(milliseconds: number): Deadline {
    return new Deadline(Math.min(this.until, performance.now() + milliseconds), this.signal)
  }

  /** Returns the same deadline with another signal. */
  with(signal: AbortSignal): Deadline {
    return new Deadline(this.until, signal)
  }
}

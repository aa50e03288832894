import { type Backoff, backoffMs } from '../../../../shared/backoff.ts'

/** Delays between attempts. The first retry has no delay. */
const relayBackoff: Backoff = { first: 250, max: 2_000 }
/**
 * Duration of a success, in milliseconds, after which the backoff starts again. Two observers that displace each other
 * therefore retry no faster than after failures.
 */
const lastingMs = 5_000

/** Retries in the background, with delays that grow with each failure. */
export class RetryTimer {
  readonly #again: () => void
  #failures = 0
  #succeededAt = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(again: () => void) {
    this.#again = again
  }

  /** Returns whether a retry is scheduled. */
  get isWaiting(): boolean {
    return this.#timer !== undefined
  }

  /** Schedules a retry after a failure, or after a success has ended. */
  failed(): void {
    clearTimeout(this.#timer)
    if (performance.now() - this.#succeededAt > lastingMs) this.#failures = 0
    this.#succeededAt = Number.POSITIVE_INFINITY
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#again()
      },
      this.#failures === 0 ? 0 : backoffMs(relayBackoff, this.#failures),
    )
    this.#timer.unref()
    this.#failures += 1
  }

  succeeded(): void {
    this.#succeededAt = performance.now()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** Retry timers by key. */
export class RetryTimers {
  readonly #again: () => void
  readonly #timers = new Map<string, RetryTimer>()

  constructor(again: () => void) {
    this.#again = again
  }

  of(key: string): RetryTimer {
    const timer = this.#timers.get(key) ?? new RetryTimer(this.#again)
    this.#timers.set(key, timer)
    return timer
  }

  isWaiting(key: string): boolean {
    return this.#timers.get(key)?.isWaiting === true
  }

  /** Stops and removes the timers whose key is no longer needed. */
  keep(isNeeded: (key: string) => boolean): void {
    for (const [key, timer] of this.#timers) {
      if (isNeeded(key)) continue
      timer.stop()
      this.#timers.delete(key)
    }
  }
}

import { type Backoff, backoffMs } from '../../../../shared/backoff.ts'

/** Waits between attempts after the first one, which is repeated at once. */
const relayBackoff: Backoff = { first: 250, max: 2_000 }
/** Life of a success in milliseconds after which the backoff starts again: two who displace each other retry no faster than after failures. */
const lastingMs = 5_000

/** Tries again in the background, later and later for as long as it fails. */
export class RetryTimer {
  readonly #again: () => void
  #failures = 0
  #succeededAt = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(again: () => void) {
    this.#again = again
  }

  /** It waits for its next try. */
  get isWaiting(): boolean {
    return this.#timer !== undefined
  }

  /** It failed, or ended after it had succeeded. */
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

/** One of each key. */
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

  /** Others are not tried again. */
  keep(isNeeded: (key: string) => boolean): void {
    for (const [key, timer] of this.#timers) {
      if (isNeeded(key)) continue
      timer.stop()
      this.#timers.delete(key)
    }
  }
}

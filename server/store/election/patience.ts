import { monotonic } from '../system/time.ts'

/**
 * Delay of a candidate, so that a leader that lost the database at the same time can reconnect first. The delay is
 * limited, even if that leader asks repeatedly.
 */
export class Patience {
  readonly #ms: number
  /** End of the wait, by `monotonic()`. */
  #until = 0
  /** Time of the first request of a leader in this outage, by `monotonic()`; undefined: none. */
  #askedAt: number | undefined

  /** @param ms duration of the wait, in milliseconds */
  constructor(ms: number) {
    this.#ms = ms
  }

  get lasts(): boolean {
    return monotonic() < this.#until
  }

  /** Starts the wait: this candidate has reached the database again. */
  begin(): void {
    this.#until = monotonic() + this.#ms
  }

  /**
   * Extends the wait. A leader was informed that this controller cannot reach the database either, so the leader may
   * answer from memory for a while.
   */
  grant(): void {
    const now = monotonic()
    this.#askedAt ??= now
    this.#until = Math.max(this.#until, Math.min(now, this.#askedAt + this.#ms) + this.#ms)
  }

  /** Records that a leader renews its lease. A later outage is a new outage. */
  leaderIsBack(): void {
    this.#askedAt = undefined
  }
}

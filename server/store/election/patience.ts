import { monotonic } from '../system/time.ts'

/** How long a candidate holds back, so that a leader that lost the database at the same time comes back first. Bounded, however often that leader asks. */
export class Patience {
  readonly #ms: number
  /** By `monotonic()`. */
  #until = 0
  /** First question of a leader since one was last seen to lead; undefined: none asked. */
  #askedAt: number | undefined

  /** @param ms how long the leader gets */
  constructor(ms: number) {
    this.#ms = ms
  }

  get lasts(): boolean {
    return monotonic() < this.#until
  }

  /** This candidate has reached the database again. */
  begin(): void {
    this.#until = monotonic() + this.#ms
  }

  /** A leader was told that the database is away from here, too, and may answer from memory for a while. */
  grant(): void {
    const now = monotonic()
    this.#askedAt ??= now
    this.#until = Math.max(this.#until, Math.min(now, this.#askedAt + this.#ms) + this.#ms)
  }

  /** A leader renews its lease: the next outage is another one. */
  leaderIsBack(): void {
    this.#askedAt = undefined
  }
}

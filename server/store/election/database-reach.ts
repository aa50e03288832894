import type { DatabaseSession } from '../postgres/database-session.ts'
import { monotonic } from '../system/time.ts'
import type { DatabaseStatus } from './site-member.ts'
import { clusterTimes } from './timings.ts'

/** Time since which the database is unreachable, and the last error. */
export type Reachability = Pick<DatabaseStatus, 'awaySince' | 'error'>

/** Connection of a replica to the database. Records since when the database is unreachable. */
export class DatabaseReach {
  readonly #clock: () => number
  #session: DatabaseSession | undefined
  #away: Reachability = { awaySince: 0, error: '' }
  /** Whether this controller holds the lock and is about to become leader. */
  isTaking = false

  constructor(clock: () => number) {
    this.#clock = clock
  }

  get isAway(): boolean {
    return this.#away.awaySince !== 0
  }

  /** Returns the connection, for additional queries. @throws Error with the reason if it is not connected */
  current(): DatabaseSession {
    const session = this.#session
    if (session === undefined || session.lost !== undefined)
      throw new Error(this.#away.error === '' ? 'the database was not reached yet' : this.#away.error)
    return session
  }

  /**
   * Returns whether the database is reachable. Has no side effects, so monitors and consoles may call it at any rate.
   */
  status(): Reachability {
    const waits = this.#session?.busyFor ?? 0
    // The lock holder becomes leader when its next query returns.
    if (this.isAway || waits <= clusterTimes.slowDatabase || this.isTaking) return this.#away
    return { awaySince: Math.round(this.#clock() - waits), error: 'the database does not answer' }
  }

  /** Records a new connection; the database counts as reachable once it has answered. */
  connected(session: DatabaseSession): void {
    this.#session = session
  }

  /** Records that the journal was read. */
  answered(): void {
    this.#away = { awaySince: 0, error: '' }
  }

  /** Records why the database is unreachable. */
  failed(error: string): void {
    this.#away = { awaySince: this.isAway ? this.#away.awaySince : this.#clock(), error }
  }

  /** Releases the connection, because it is broken or because the leader role uses it from now on. */
  disconnected(): void {
    this.#session = undefined
  }

  async close(): Promise<void> {
    await this.#session?.close()
  }
}

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

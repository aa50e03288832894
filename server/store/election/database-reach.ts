import type { DatabaseSession } from '../postgres/database-session.ts'
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

import { elapsed, pauseOn, wallClock } from '../system/time.ts'
import { backoffMs } from '../../../shared/backoff.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { type Away, StorageAwayError } from '../storage.ts'
import type { DatabaseAddress } from './database-address.ts'
import { FencedError } from './database-error.ts'
import { type WonTerm, leadOn, letGo, releaseLock, type Term } from '../election/leader.ts'
import { DatabaseSession } from './database-session.ts'
import type { SessionDeadlines } from '../store-options.ts'
import { messageOf } from './server-answers.ts'
import { beginTerm } from '../election/journal-rows.ts'
import { databaseBackoff } from '../election/timings.ts'

export interface LinkOptions {
  address: DatabaseAddress
  deadlines: SessionDeadlines
  session: DatabaseSession
  won: WonTerm
  /** Number of the last stored line. */
  last: number
  /** Returns the number of the last confirmed line in memory. */
  confirmed: () => number
  /**
   * Stores confirmed changes that the database lacks after it was restored to an older state, or failed over with a
   * loss.
   * @returns the number of the database's last line afterwards
   */
  makeGood: (term: Term, last: number) => Promise<number>
  /** The highest room numbers assigned and reserved. */
  roomNumbers: { readonly last: number; readonly reserved: number }
}

/** An outage of the database. */
export interface LinkAway extends Away {
  /** Start of the outage, in milliseconds since the epoch. */
  since: number
  /** Whether at least one attempt to reconnect was made. */
  tried: boolean
}

/** Connection of the leader to the database. Reconnects when it breaks. */
export class Link {
  readonly #options: LinkOptions
  #won: WonTerm
  #session: DatabaseSession
  #last: number
  #away: LinkAway | undefined
  /** Resolves the `back` promise of the current outage. */
  #endWait: (() => void) | undefined
  #fenced: FencedError | undefined
  readonly #closed = new AbortController()
  readonly #listeners = new Set<() => void>()
  readonly #backListeners = new Set<(since: number) => void>()
  readonly #whenFenced = Promise.withResolvers<FencedError>()

  constructor(options: LinkOptions) {
    this.#options = options
    this.#won = options.won
    this.#last = options.last
    this.#session = options.session
    this.#watch(options.session)
  }

  /** Returns the current connection and its term. @throws StorageAwayError, FencedError */
  current(): { session: DatabaseSession; term: Term } {
    if (this.#fenced !== undefined) throw this.#fenced
    if (this.#away !== undefined) throw new StorageAwayError(this.#away.error.message)
    return { session: this.#session, term: this.#won.term }
  }

  /** Number of the last line stored before the current connection became active. */
  get last(): number {
    return this.#last
  }

  get fenced(): FencedError | undefined {
    return this.#fenced
  }

  /** Resolves when another controller has taken over. */
  get whenFenced(): Promise<FencedError> {
    return this.#whenFenced.promise
  }

  /** Latest term of this controller. */
  get term(): Term {
    return this.#won.term
  }

  away(): LinkAway | undefined {
    return this.#away
  }

  onAway(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /**
   * @param listener called when a new connection is active and this controller still leads. `since`: `elapsed()` just
   * before the epoch was raised for the connection
   */
  onBack(listener: (since: number) => void): void {
    this.#backListeners.add(listener)
  }

  /**
   * Records that another controller has taken over. This is permanent, and ends all waiting.
   * @param lets connection whose lock is released first; left out: the current connection is closed at once
   */
  fence(error: FencedError, lets?: DatabaseSession): FencedError {
    this.#fenced ??= error
    this.#away = undefined
    this.abandon()
    if (lets === undefined) this.#session.destroy()
    else mustNotFail(release(lets))
    this.#endWait?.()
    this.#whenFenced.resolve(this.#fenced)
    return this.#fenced
  }

  /** Discards a connection after an error. */
  give(session: DatabaseSession, error: unknown): void {
    this.#lose(session, error instanceof Error ? error : new Error(messageOf(error)))
    session.destroy()
  }

  /** Stops reconnecting. */
  abandon(): void {
    this.#closed.abort()
  }

  get abandoned(): boolean {
    return this.#closed.signal.aborted
  }

  /** Signal that aborts when reconnecting has stopped. */
  get ended(): AbortSignal {
    return this.#closed.signal
  }

  /** Opens an additional connection. */
  beside(deadlines = this.#options.deadlines): Promise<DatabaseSession> {
    return DatabaseSession.open(this.#options.address, deadlines)
  }

  /** Releases the lock, and closes the connection. */
  async close(): Promise<void> {
    this.abandon()
    const given = this.#options.roomNumbers.last
    // The lock ends with the connection in any case.
    if (this.#session.lost === undefined) await letGo(this.#session, this.term, given).catch(() => undefined)
    await release(this.#session)
  }

  /** Closes the connection at once, even if statements are under way. */
  destroy(): void {
    this.abandon()
    this.#session.destroy()
  }

  #watch(session: DatabaseSession): void {
    session.onLost((error) => this.#lose(session, error))
    if (session.lost !== undefined) this.#lose(session, session.lost)
  }

  #lose(session: DatabaseSession, error: Error): void {
    if (session !== this.#session || this.#away !== undefined || this.#closed.signal.aborted) return
    const { promise: back, resolve } = Promise.withResolvers<void>()
    const reason = new StorageAwayError(`the database cannot be reached: ${messageOf(error)}`)
    const away: LinkAway = { error: reason, back, since: wallClock(), tried: false }
    this.#away = away
    this.#endWait = resolve
    mustNotFail(this.#reconnect(away).then(resolve))
    for (const listener of this.#listeners) listener()
  }

  async #reconnect(away: LinkAway): Promise<void> {
    const { address, deadlines } = this.#options
    const { signal } = this.#closed
    for (let failures = 1; !signal.aborted; failures++) {
      let session: DatabaseSession | undefined
      try {
        session = await DatabaseSession.open(address, deadlines)
        const since = elapsed()
        await this.#resume(session)
        if (signal.aborted) {
          await session.close()
          return
        }
        this.#session = session
        this.#away = undefined
        for (const listener of this.#backListeners) listener(since)
        this.#watch(session)
        return
      } catch (error) {
        session?.destroy()
        if (error instanceof FencedError) {
          this.fence(error)
          return
        }
        away.tried = true
        away.error = new StorageAwayError(`the database cannot be reached: ${messageOf(error)}`)
      }
      await pauseOn(backoffMs(databaseBackoff, failures), { signal })
    }
  }

  async #resume(session: DatabaseSession): Promise<void> {
    const won = await leadOn(session, this.#won, this.#options.roomNumbers.reserved)
    this.#won = won
    const stored = await beginTerm(session, won.term, this.#options.confirmed())
    this.#last = await this.#options.makeGood(won.term, stored)
  }
}

/** Releases the lock, and closes the connection. A failure does not matter: the lock ends with the connection. */
async function release(session: DatabaseSession): Promise<void> {
  // See above.
  await releaseLock(session).catch(() => undefined)
  await session.close()
}

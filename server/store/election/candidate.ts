import { onAbort } from '../../../shared/abort.ts'
import { monotonic, pauseOn, sleepOn } from '../system/time.ts'
import { backoffMs } from '../../../shared/backoff.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { type Migrations, StoreVersionError } from '../migrations.ts'
import type { DatabaseStatus } from './site-member.ts'
import type { Sealer } from '../sealer.ts'
import { Alarm } from './alarm.ts'
import { type LeaderRow, leads, readLeader } from './controller-rows.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import { DatabaseError, NewerTablesError } from '../postgres/database-error.ts'
import { termOf } from '../postgres/read-state.ts'
import type { KnownTerms } from './known-terms.ts'
import type { Follower } from './follower.ts'
import type { OwnRow } from './own-row.ts'
import { Patience } from './patience.ts'
import type { Durability } from '../postgres/durability.ts'
import type { Registration } from './registration.ts'
import { channel, endFrozenLeader, releaseLock, tryLock } from './leader.ts'
import { clusterTimes, databaseBackoff, type ElectionTimes } from './timings.ts'
import { roomNumberGap } from '../files/recovery.ts'
import type { RoomNumberRecord } from '../postgres/room-number-blocks.ts'
import { type Taken, takeOver } from './take-over.ts'
import { bringTables, checkTables, readSiteRow } from '../postgres/schema.ts'
import { DatabaseSession } from '../postgres/database-session.ts'
import type { SessionDeadlines } from '../store-options.ts'
import { messageOf } from '../postgres/server-answers.ts'
import { checkSite, type SiteCheck } from '../postgres/site-row.ts'

export interface CandidateOptions {
  id: string
  name: string
  address: DatabaseAddress
  deadlines: SessionDeadlines
  times: ElectionTimes
  sealer: Sealer
  migrations: Migrations
  follower: Follower
  registration: Registration
  roomNumbers: RoomNumberRecord
  clock: () => number
  ownRow: OwnRow
  durability: Durability
  knownTerms: KnownTerms
  /** Called after each query of the leader; undefined: there was no leader yet. */
  onLeader: (row: LeaderRow | undefined) => void
  /** Called with a message for each new problem. */
  onTrouble: (message: string, error: unknown) => void
}

/** A caller of `lead` that waits for this controller to become leader. */
interface Candidate {
  resolve: (taken: Taken) => void
  reject: (error: unknown) => void
}

/**
 * Follows the journal. When a caller requests leadership, becomes leader as soon as no other controller leads. Waits
 * while the database is unreachable.
 */
export class ElectionCandidate {
  readonly #options: CandidateOptions
  readonly #check: SiteCheck
  readonly #alarm = new Alarm()
  readonly #closed = new AbortController()
  readonly #first = Promise.withResolvers<void>()
  #session: DatabaseSession | undefined
  #candidate: Candidate | undefined
  /** Error that prevents the program from running on this site. */
  #unfit: Error | undefined
  /**
   * Reason that permits this controller only to follow, as far as possible: a newer program stores in the database, or
   * another controller has its id.
   */
  #barred: Error | undefined
  #away = { since: 0, error: '' }
  #trouble = ''
  /** Whether it holds the lock and is about to become leader. */
  #taking = false
  readonly #patience: Patience
  #reportedAt = Number.NEGATIVE_INFINITY
  readonly #ended: Promise<void>

  constructor(options: CandidateOptions) {
    this.#options = options
    const { address, sealer, migrations, times } = options
    this.#patience = new Patience(times.comeBack)
    this.#check = { address, sealer, migrations, take: 'site here' }
    // Awaited later; until then a rejection must not count as unhandled.
    this.#first.promise.catch(() => undefined)
    this.#ended = this.#run()
  }

  /** Resolves when the site was read for the first time; rejects with the error of the first attempt. */
  get first(): Promise<void> {
    return this.#first.promise
  }

  /**
   * Returns whether the database is reachable. Has no side effects, so monitors and consoles may call it at any rate.
   */
  status(): Omit<DatabaseStatus, 'shown' | 'risks'> {
    const waits = this.#session?.busyFor ?? 0
    let { since, error } = this.#away
    // The lock holder becomes leader when its next query returns.
    if (since === 0 && waits > clusterTimes.slowDatabase && !this.#taking)
      [since, error] = [Math.round(this.#options.clock() - waits), 'the database does not answer']
    return { awaySince: since, error }
  }

  /**
   * Answers a leader that cannot reach the database: see `status`. If this controller cannot reach the database either,
   * the leader gets time to reconnect first. The questions of one leader extend that time only once.
   */
  answerLeader(): Omit<DatabaseStatus, 'shown' | 'risks'> {
    const status = this.status()
    if (status.awaySince !== 0) this.#patience.grant()
    return status
  }

  /** Returns the connection, for additional queries. @throws Error with the reason if it is not connected */
  current(): DatabaseSession {
    const session = this.#session
    if (session === undefined || session.lost !== undefined)
      throw new Error(this.#away.error === '' ? 'the database was not reached yet' : this.#away.error)
    return session
  }

  /** Writes the row of this controller at the next check. */
  reportSoon(): void {
    this.#reportedAt = Number.NEGATIVE_INFINITY
    this.#alarm.ring()
  }

  /** Runs the next check at once. */
  lookNow(): void {
    this.#alarm.ring()
  }

  /** Becomes leader as soon as no other controller leads; the loop ends then. See SiteMember. */
  lead(signal: AbortSignal): Promise<Taken> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw signal.reason
      if (this.#unfit !== undefined) throw this.#unfit
      // The signal outlives this role: a remaining listener would keep the whole role in memory.
      const forget = onAbort(signal, () => this.#refuse(signal.reason))
      this.#candidate = {
        resolve: (taken) => {
          forget()
          resolve(taken)
        },
        reject: (error) => {
          forget()
          reject(error)
        },
      }
      this.#alarm.ring()
    })
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#alarm.ring()
    this.#refuse(new Error('the controller closes'))
    await this.#session?.close()
    await this.#ended
  }

  #refuse(error: unknown): void {
    this.#candidate?.reject(error)
    this.#candidate = undefined
  }

  async #run(): Promise<void> {
    const { address, deadlines, clock } = this.#options
    const { signal } = this.#closed
    for (let failures = 1; !signal.aborted; failures++) {
      let session: DatabaseSession | undefined
      try {
        session = await DatabaseSession.open(address, deadlines)
        session.onLost(() => this.#alarm.ring())
        this.#session = session
        await this.#greet(session)
        if (this.#away.since !== 0) this.#patience.begin()
        failures = 1
        if (await this.#stand(session)) return
      } catch (error) {
        this.#session = undefined
        await session?.close()
        if (signal.aborted) break
        this.#failed(error, clock())
      }
      await pauseOn(backoffMs(databaseBackoff, failures), { signal })
    }
    this.#first.reject(new Error('the controller closes'))
  }

  #failed(error: unknown, now: number): void {
    const message = messageOf(error)
    this.#away = { since: this.#away.since === 0 ? now : this.#away.since, error: message }
    this.#first.reject(error)
    this.#notify(message, error)
    if (!(error instanceof DatabaseError || error instanceof StoreVersionError)) return
    this.#unfit = error
    this.#refuse(error)
  }

  #notify(message: string, error: unknown): void {
    if (message !== '' && message !== this.#trouble) this.#options.onTrouble(message, error)
    this.#trouble = message
  }

  async #greet(session: DatabaseSession): Promise<void> {
    this.#barred = undefined
    await bringTables(session, this.#options.address).catch((error: unknown) => this.#outdated(error))
    await this.#checkSite(session)
    const { rows } = await session.query<{ schema: string }>(`select current_schema()::text as schema`)
    session.onNotification((schema) => {
      if (schema === rows[0]?.schema) this.#alarm.ring()
    })
    await session.query(`listen ${channel}`)
  }

  async #checkSite(session: DatabaseSession): Promise<void> {
    const site = await readSiteRow(session)
    if (site === undefined) return
    try {
      checkTables(site.tables, this.#options.address)
      checkSite(site, this.#check)
    } catch (error) {
      this.#outdated(error)
    }
  }

  /**
   * @throws the error, unless a newer program stores in the database and the site has already been read, so that it can
   * be followed
   */
  #outdated(error: unknown): void {
    const readable = error instanceof NewerTablesError
    if (!readable && !(error instanceof StoreVersionError && this.#options.follower.read !== undefined)) throw error
    this.#bar(error)
  }

  #bar(error: Error): void {
    this.#barred = error
    this.#notify(`${error.message} Until then this controller stays a replica.`, error)
  }

  /** @throws the reason why this controller cannot have a row, if it never had one */
  async #report(session: DatabaseSession): Promise<void> {
    const { ownRow, durability } = this.#options
    await ownRow.write(session)
    await durability.look(session)
    if (ownRow.shared === undefined) return
    if (!ownRow.isKept) throw ownRow.shared
    this.#bar(ownRow.shared)
  }

  /** @returns true when it leads */
  async #stand(session: DatabaseSession): Promise<boolean> {
    const { follower, roomNumbers, times, onLeader, ownRow, registration, knownTerms } = this.#options
    let holder = ''
    let term: string | null = null
    for (;;) {
      if (session.lost !== undefined) throw session.lost
      const row = await readLeader(session)
      if (row !== undefined && row.holder !== holder) {
        // The previous leader may have created the site, or may use a newer schema.
        await this.#checkSite(session)
        holder = row.holder
      }
      if (row !== undefined) {
        if (row.leaseLeft !== null && leads(row)) this.#patience.leaderIsBack()
        const given = Number(row.roomNumbers)
        mustNotFail(hasLetGo(row, term) ? roomNumbers.giveBack(given) : roomNumbers.keep(given))
        term = row.term
        knownTerms.noteEpoch(row.epoch)
        if (term !== null && knownTerms.hasComeBack(term)) leaveOut(roomNumbers)
      }
      await follower
        .follow(session, row === undefined ? '' : termOf(row))
        .catch((error: unknown) => this.#outdated(error))
      roomNumbers.given(follower.roomNumber)
      this.#unfit = undefined
      this.#away = { since: 0, error: '' }
      onLeader(row)
      if (monotonic() - this.#reportedAt >= times.renew) {
        this.#reportedAt = monotonic()
        await this.#report(session)
      }
      if (ownRow.isKept) this.#first.resolve()
      registration.to(row)
      if (this.#closed.signal.aborted) throw new Error('the controller closes')
      const mayLead = ownRow.isKept && this.#barred === undefined
      if (mayLead && this.#candidate !== undefined && (await this.#attempt(session, row))) return true
      await sleepOn(clusterTimes.betweenChecks)
      await this.#alarm.wait(this.#candidate === undefined ? times.poll : times.attempt)
    }
  }

  async #attempt(session: DatabaseSession, row: LeaderRow | undefined): Promise<boolean> {
    if (this.#holdsBack(row)) return false
    if (!(await tryLock(session))) {
      if (row !== undefined && !leads(row)) await this.#endFrozen(session, this.#options.address)
      return false
    }
    // A successor may have been named just before the lock was released.
    const last = await readLeader(session)
    if (this.#holdsBack(last)) {
      await releaseLock(session)
      return false
    }
    this.#taking = true
    const taken = await takeOver(session, last, this.#check, this.#options).finally(() => {
      this.#taking = false
    })
    const candidate = this.#candidate
    if (candidate === undefined) {
      // The request was withdrawn meanwhile: another controller may lead.
      await releaseLock(session)
      await session.query(`listen ${channel}`)
      return false
    }
    this.#candidate = undefined
    this.#session = undefined
    candidate.resolve({ ...taken, named: last?.successor === this.#options.id })
    return true
  }

  #holdsBack(row: LeaderRow | undefined): boolean {
    if (row === undefined) return false
    if (row.successor !== null) return row.successor !== this.#options.id
    return this.#patience.lasts || !this.#options.registration.isDone(row)
  }

  async #endFrozen(session: DatabaseSession, { shown }: DatabaseAddress): Promise<void> {
    try {
      await endFrozenLeader(session)
      this.#notify('', undefined)
    } catch (error) {
      if (session.lost !== undefined) throw error
      this.#notify(
        `The leader of the site in the database ${shown} does not renew its lease, and its connection cannot be ended (${messageOf(error)}): let all controllers use one user of the database, or grant theirs pg_signal_backend.`,
        error,
      )
    }
  }
}

/** Skips room numbers: unknown ones may have been assigned above the highest known number. */
function leaveOut(roomNumbers: RoomNumberRecord): void {
  const behind = roomNumbers.highest + roomNumberGap
  roomNumbers.given(behind)
  mustNotFail(roomNumbers.keep(behind))
}

/**
 * Whether the leader has released its lease and returned its unused room numbers. Any other lower number comes from a
 * database that was restored to an older state.
 * @param before term of the previous query
 */
function hasLetGo({ leaseLeft, term }: LeaderRow, before: string | null): boolean {
  return leaseLeft === null && term !== null && term === before
}

import { Alarm, monotonic, pauseOn, sleepOn } from '../system/time.ts'
import { backoffMs } from '../../../shared/backoff.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { StoreVersionError } from '../migrations.ts'
import { type LeaderRow, leaderOf, leads, readLeader } from './controller-rows.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import { DatabaseReach, Patience, type Reachability } from './database-reach.ts'
import { DatabaseError, NewerTablesError } from '../postgres/database-error.ts'
import { termOf } from '../postgres/read-state.ts'
import type { Membership } from './membership.ts'
import { Registration } from './registration.ts'
import { channel, endFrozenLeader, releaseLock, tryLock } from './leader.ts'
import { clusterTimes, databaseBackoff } from './timings.ts'
import { roomNumberGap } from '../files/recovery.ts'
import type { RoomNumberRecord } from '../postgres/room-numbers.ts'
import { LeadRequest, type Taken, takeOver } from './take-over.ts'
import { bringTables, checkSite, checkTables, readSiteRow, type SiteCheck } from '../postgres/schema.ts'
import { DatabaseSession } from '../postgres/database-session.ts'
import { messageOf } from '../postgres/server-answers.ts'

/**
 * Follows the journal. When a caller requests leadership, becomes leader as soon as no other controller leads. Waits
 * while the database is unreachable.
 */
export class ElectionCandidate {
  readonly registration: Registration
  readonly reach: DatabaseReach
  readonly #membership: Membership
  readonly #check: SiteCheck
  readonly #alarm = new Alarm()
  readonly #closed = new AbortController()
  readonly #first = Promise.withResolvers<void>()
  readonly #request = new LeadRequest()
  /**
   * Reason why this controller must not lead; undefined: it may lead. A newer program stores in the database, or
   * another controller has the same id.
   */
  #barred: Error | undefined
  /** Message of the last problem, which is logged once; empty: none. */
  #trouble = ''
  /**
   * Whether the first read has ended. The start itself reports a failure of the first read, so only later problems are
   * logged.
   */
  #isStarted = false
  readonly #patience: Patience
  #reportedAt = Number.NEGATIVE_INFINITY
  readonly #ended: Promise<void>

  constructor(membership: Membership) {
    const { id, ownRow, register, address, sealer, migrations, times, clock } = membership
    this.#membership = membership
    this.reach = new DatabaseReach(clock)
    this.registration = new Registration({
      ...{ id, ownRow, register },
      patienceMs: times.comeBack,
      betweenMs: times.renew,
      onNews: () => this.#alarm.ring(),
    })
    this.#patience = new Patience(times.comeBack)
    this.#check = { address, sealer, migrations, take: 'site here' }
    const started = (): void => {
      this.#isStarted = true
    }
    this.#first.promise.then(started, started)
    this.#ended = this.#run()
  }

  /** Resolves when the site was read for the first time; rejects with the error of the first attempt. */
  get first(): Promise<void> {
    return this.#first.promise
  }

  /**
   * Answers a leader that cannot reach the database: see `DatabaseReach.status`. If this controller cannot reach the
   * database either, it gives the leader time to reconnect first: see `Patience.grant`.
   */
  answerLeader(): Reachability {
    const status = this.reach.status()
    if (status.awaySince !== 0) this.#patience.grant()
    return status
  }

  /** Writes the row of this controller at the next check. */
  reportSoon(): void {
    this.#reportedAt = Number.NEGATIVE_INFINITY
    this.#alarm.ring()
  }

  /** Becomes leader as soon as no other controller leads, and ends the loop. See SiteMember. */
  lead(signal: AbortSignal): Promise<Taken> {
    const taken = this.#request.open(signal)
    if (this.#request.isOpen) this.#alarm.ring()
    return taken
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#alarm.ring()
    this.#request.refuse(new Error('the controller closes'))
    await this.reach.close()
    await this.#ended
  }

  async #run(): Promise<void> {
    const { address, databaseDeadlines } = this.#membership
    const { signal } = this.#closed
    for (let failures = 1; !signal.aborted; failures++) {
      let session: DatabaseSession | undefined
      try {
        session = await DatabaseSession.open(address, databaseDeadlines)
        session.onLost(() => this.#alarm.ring())
        this.reach.connected(session)
        await this.#greet(session)
        if (this.reach.isAway) this.#patience.begin()
        failures = 1
        if (await this.#stand(session)) return
      } catch (error) {
        this.reach.disconnected()
        await session?.close()
        if (signal.aborted) break
        this.#failed(error)
      }
      await pauseOn(backoffMs(databaseBackoff, failures), { signal })
    }
    this.#first.reject(new Error('the controller closes'))
  }

  #failed(error: unknown): void {
    const message = messageOf(error)
    this.reach.failed(message)
    this.#first.reject(error)
    this.#notify(message, error)
    if (error instanceof DatabaseError || error instanceof StoreVersionError) this.#request.refuseAll(error)
  }

  #notify(message: string, error: unknown): void {
    if (message !== '' && message !== this.#trouble && this.#isStarted)
      this.#membership.logger?.warn({ err: error }, message)
    this.#trouble = message
  }

  async #greet(session: DatabaseSession): Promise<void> {
    this.#barred = undefined
    await bringTables(session, this.#membership.address).catch((error: unknown) => this.#outdated(error))
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
      checkTables(site.tables, this.#membership.address)
      checkSite(site, this.#check)
    } catch (error) {
      this.#outdated(error)
    }
  }

  /**
   * @throws the error, unless this controller can still follow the site: its newer tables are readable, or the site was
   * read before a newer program stored in it
   */
  #outdated(error: unknown): void {
    const readable = error instanceof NewerTablesError
    if (!readable && !(error instanceof StoreVersionError && this.#membership.follower.read !== undefined)) throw error
    this.#bar(error)
  }

  #bar(error: Error): void {
    this.#barred = error
    this.#notify(`${error.message} Until then this controller stays a replica.`, error)
  }

  /**
   * Writes the row of this controller.
   * @throws DatabaseError if another controller has the same id, and this controller's row was never written
   */
  async #report(session: DatabaseSession): Promise<void> {
    const { ownRow, durability, follower } = this.#membership
    await ownRow.write(session, follower.last)
    await durability.look(session)
    if (ownRow.shared === undefined) return
    if (!ownRow.isKept) throw ownRow.shared
    this.#bar(ownRow.shared)
  }

  /** @returns true when this controller leads */
  async #stand(session: DatabaseSession): Promise<boolean> {
    const { follower, roomNumbers, times, leader, clock, ownRow, knownTerms } = this.#membership
    let holder = ''
    let term: string | null = null
    for (;;) {
      if (session.lost !== undefined) throw session.lost
      const row = await readLeader(session)
      if (row !== undefined && row.holder !== holder) {
        // The new holder may have created the site, or may use a newer schema.
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
      this.#request.allow()
      this.reach.answered()
      leader.set(leaderOf(row, clock()))
      if (monotonic() - this.#reportedAt >= times.renew) {
        this.#reportedAt = monotonic()
        await this.#report(session)
      }
      if (ownRow.isKept) this.#first.resolve()
      this.registration.to(row)
      if (this.#closed.signal.aborted) throw new Error('the controller closes')
      const mayLead = ownRow.isKept && this.#barred === undefined
      if (mayLead && this.#request.isOpen && (await this.#attempt(session, row))) return true
      await sleepOn(clusterTimes.betweenChecks)
      await this.#alarm.wait(this.#request.isOpen ? times.attempt : times.poll)
    }
  }

  async #attempt(session: DatabaseSession, row: LeaderRow | undefined): Promise<boolean> {
    if (this.#holdsBack(row)) return false
    if (!(await tryLock(session))) {
      if (row !== undefined && !leads(row)) await this.#endFrozen(session, this.#membership.address)
      return false
    }
    // A successor may have been named just before the lock was released.
    const last = await readLeader(session)
    if (this.#holdsBack(last)) {
      await releaseLock(session)
      return false
    }
    this.reach.isTaking = true
    const taken = await takeOver(session, last, this.#check, this.#membership).finally(() => {
      this.reach.isTaking = false
    })
    const answer = this.#request.take()
    if (answer === undefined) {
      // The request was withdrawn meanwhile: another controller may lead.
      await releaseLock(session)
      await session.query(`listen ${channel}`)
      return false
    }
    this.reach.disconnected()
    answer({ ...taken, named: last?.successor === this.#membership.id })
    return true
  }

  #holdsBack(row: LeaderRow | undefined): boolean {
    if (row === undefined) return false
    if (row.successor !== null) return row.successor !== this.#membership.id
    return this.#patience.lasts || !this.registration.isDone(row)
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

/** Skips room numbers, because numbers above the highest known number may have been assigned. */
function leaveOut(roomNumbers: RoomNumberRecord): void {
  const behind = roomNumbers.highest + roomNumberGap
  roomNumbers.given(behind)
  mustNotFail(roomNumbers.keep(behind))
}

/**
 * Whether the leader has released its lease and returned its unused room numbers. In all other cases, a lower number
 * comes from a database that was restored to an older state.
 * @param before term that the previous query returned
 */
function hasLetGo({ leaseLeft, term }: LeaderRow, before: string | null): boolean {
  return leaseLeft === null && term !== null && term === before
}

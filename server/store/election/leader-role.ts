import { ApiError } from '../../../shared/result-codes.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { HandedOverError } from '../postgres/database-error.ts'
import type { DatabaseSession } from '../postgres/database-session.ts'
import type { Link } from '../postgres/link.ts'
import type { DatabaseState } from '../postgres/read-state.ts'
import { notStored, storageReasonOf } from '../storage.ts'
import { readControllers, type ReportedController } from './controller-rows.ts'
import type { Reachability } from './database-reach.ts'
import { type DatabaseStore, openLeaderSite } from './database-store.ts'
import type { JournalPosition } from './term-history.ts'
import { Lease } from './lease.ts'
import type { Membership } from './membership.ts'
import type { JoiningController, LeaseFigures } from './site-member.ts'
import type { Taken } from './take-over.ts'
import { handOverTimes } from './timings.ts'

/** Role of a member that has taken over: the lease and, once open, the store. Ends with the membership. */
export class LeaderRole {
  readonly #membership: Membership
  readonly #taken: Taken
  #lease: Lease | undefined
  #store: DatabaseStore | undefined
  /** Whether the operator was notified that another controller has the same id. */
  #isSharedIdLogged = false

  constructor(membership: Membership, taken: Taken) {
    this.#membership = membership
    this.#taken = taken
  }

  /** See `SiteMember.named`. */
  get named(): boolean {
    return this.#taken.named
  }

  /** Journal position of memory; undefined until the store is open. */
  get position(): JournalPosition | undefined {
    return this.#store?.storage.position
  }

  /** Opens the store. Called once. */
  async open(): Promise<DatabaseStore> {
    const { ownRow, follower, clock } = this.#membership
    ownRow.changesRole(clock())
    follower.ledBy()
    try {
      const store = await this.#openStore()
      this.#store = store
      this.#lead(store.storage.link)
      return store
    } catch (error) {
      this.#taken.session.destroy()
      throw error
    }
  }

  /** Returns whether the database is reachable; undefined until the store is open. */
  status(): Reachability | undefined {
    if (this.#store === undefined) return undefined
    const away = this.#store.storage.link.away()
    return { awaySince: away?.since ?? 0, error: away?.error.message ?? '' }
  }

  /** Returns the connection; undefined until the store is open. @throws StorageAwayError, FencedError */
  session(): DatabaseSession | undefined {
    return this.#store?.storage.link.current().session
  }

  /** See `SiteMember.lease`. */
  figures(): LeaseFigures | undefined {
    return this.#opened === undefined ? undefined : this.#lease?.figures()
  }

  /** See `SiteMember.handOver`. */
  async handOver(id: string): Promise<void> {
    const store = this.#store
    if (store === undefined) throw notLeading()
    const { id: ownId, clock, times } = this.#membership
    const known = await this.#known(store.storage.link).catch((error: unknown) => {
      throw notStored(storageReasonOf(error), error)
    })
    const to = known.find((controller) => controller.id === id)
    const { silent, flush, successor } = handOverTimes(times, this.#lease?.roundTrip ?? 0)
    const heard = to !== undefined && clock() - to.seenAt < silent
    if (to === undefined || id === ownId || !heard) {
      const why = to === undefined ? 'Unknown' : id === ownId ? 'LeadsAlready' : 'NotSeen'
      throw new ApiError('parameter', { field: 'id', refusal: refusal(`controller${why}`) })
    }
    await store.handOver(to, successor, flush)
  }

  /** See `SiteMember.register`. */
  register(joiner: JoiningController): boolean {
    const { id, clock } = this.#membership
    if (this.#lease === undefined || this.#opened === undefined) return false
    if (joiner.place.console === '' || joiner.id === id) return false
    const now = clock()
    this.#lease.register({ ...joiner, role: 'standby', behind: 0, behindFor: 0, seenAt: now, since: now })
    return true
  }

  /** Reports the new address of this controller. */
  resend(): void {
    this.#lease?.resend()
  }

  /** Ends the lease: from now on, no read is answered from memory. */
  end(): void {
    this.#lease?.end()
  }

  /** Closes the connection without releasing the lock first. */
  disconnect(): void {
    this.#store?.storage.link.destroy()
  }

  /** The open store; undefined: not open yet, or another controller has taken over. */
  get #opened(): DatabaseStore | undefined {
    return this.#store?.storage.link.fenced === undefined ? this.#store : undefined
  }

  #openStore(): Promise<DatabaseStore> {
    const membership = this.#membership
    const { address, follower, roomNumbers, losses } = membership
    const { session, won, stored } = this.#taken
    return openLeaderSite(membership, {
      ...{ address, session, won, stored, roomNumbers },
      read: this.#inMemory(),
      trail: follower.trail,
      found: losses.all,
      // This controller keeps the folder locked even after it stops leading.
      unlock: () => Promise.resolve(),
      lease: (link) => (this.#lease = this.#newLease(link)),
    })
  }

  /** Records the terms of this controller, and the current leader. */
  #lead(link: Link): void {
    const { knownTerms, leader, ownRow, clock } = this.#membership
    knownTerms.lead(link.term)
    link.onBack(() => knownTerms.lead(link.term))
    const fenced = link.whenFenced.then((error) => {
      // After a hand-over, the term lasts until the successor takes over.
      if (!(error instanceof HandedOverError)) knownTerms.end(link.term.id)
      leader.set(error.by)
    })
    mustNotFail(fenced)
    leader.set(ownRow.asLeader(clock()))
  }

  #newLease(link: Link): Lease {
    const { times, askOthers, logger } = this.#membership
    const report = (session: DatabaseSession): Promise<ReportedController[]> => this.#report(session)
    return new Lease({ link, times, taken: this.#taken, report, askOthers, logger })
  }

  async #report(session: DatabaseSession): Promise<ReportedController[]> {
    const { ownRow, durability, follower, leader, logger } = this.#membership
    await ownRow.write(session, this.position?.last ?? follower.last)
    await durability.look(session)
    const { shared } = ownRow
    if (shared !== undefined && !this.#isSharedIdLogged) logger?.error({ err: shared }, shared.message)
    this.#isSharedIdLogged = shared !== undefined
    const known = await readControllers(session, this.#membership)
    leader.set(known.find(({ role }) => role === 'leader'))
    return known
  }

  async #known(link: Link): Promise<ReportedController[]> {
    return await readControllers(link.current().session, this.#membership)
  }

  /** Returns the state in memory in the form of a state that was just read. */
  #inMemory(): DatabaseState {
    const { follower } = this.#membership
    const { snapshot } = this.#taken
    const { read, last, position, roomNumber } = follower
    if (read === undefined) throw new Error('Nothing was read yet.')
    return {
      ...read,
      last,
      lastTerm: position?.lastTerm,
      roomNumber,
      journalBytes: follower.bytesBehind(snapshot?.seq ?? 0),
      snapshotBytes: snapshot?.bytes ?? 0,
      snapshotAt: snapshot?.at ?? 0,
    }
  }
}

/** Returns the error for a request that only the leader can carry out. */
export function notLeading(): ApiError {
  return notStored('another controller leads this site')
}

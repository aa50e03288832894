import { wallClock } from '../system/time.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { migrations as knownMigrations } from '../migrations.ts'
import type {
  ControllerPlace,
  DatabaseStatus,
  FencedStore,
  FollowedStore,
  JoiningController,
  KnownController,
  LeaseFigures,
  SiteMember,
} from './site-member.ts'
import { notStored, storageReasonOf } from '../storage-error.ts'
import type { StoreNotice } from '../store.ts'
import {
  type ControllerReport,
  type LeaderRow,
  leaderOf,
  readControllers,
  type ReportedController,
} from './controller-rows.ts'
import { OwnRow } from './own-row.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import { HandedOverError } from '../postgres/database-error.ts'
import { Follower } from './follower.ts'
import { Registration } from './registration.ts'
import { HeldLease } from './held-lease.ts'
import { Lease } from './lease.ts'
import { openLeaderSite } from './leader-site.ts'
import type { DatabaseStore } from './database-store.ts'
import { Durability } from '../postgres/durability.ts'
import type { Link } from '../postgres/link.ts'
import type { MemberOptions } from './member-options.ts'
import type { DatabaseState } from '../postgres/read-state.ts'
import type { RoomNumberRecord } from '../postgres/room-number-blocks.ts'
import { defaultDeadlines, type DatabaseSession } from '../postgres/database-session.ts'
import type { SessionDeadlines } from '../store-options.ts'
import { ElectionCandidate } from './candidate.ts'
import { KnownTerms } from './known-terms.ts'
import type { JournalPosition } from './journal-trail.ts'
import { lossMessage, type LostLines } from './lost-lines.ts'
import type { Taken } from './take-over.ts'
import { type ElectionTimes, electionTimes, handOverTimes } from './timings.ts'

/** Contents of a controller's own data folder. */
export interface OwnState {
  id: string
  address: DatabaseAddress
  /** Identifies its data folder: see OwnRow. */
  folderId: string
  found: StoreNotice[]
  roomNumbers: RoomNumberRecord
  unlock: () => Promise<void>
}

/** A controller of a site whose state is in a database. Made by `openMember`. */
export class ClusterMember implements SiteMember {
  readonly id: string
  readonly followed: FollowedStore
  readonly knownTerms: KnownTerms
  readonly #options: MemberOptions
  readonly #address: DatabaseAddress
  readonly #deadlines: SessionDeadlines
  readonly #times: ElectionTimes
  readonly #clock: () => number
  readonly #follower: Follower
  readonly #registration: Registration
  readonly #candidate: ElectionCandidate
  readonly #found: StoreNotice[]
  readonly #unlock: () => Promise<void>
  readonly #roomNumbers: RoomNumberRecord
  readonly #ownRow: OwnRow
  readonly #durability: Durability
  /** Whether the operator was notified that another controller has the same id. */
  #isTold = false
  readonly #leaderListeners = new Set<(leader: KnownController | undefined) => void>()
  readonly #lossListeners = new Set<(notice: StoreNotice) => void>()
  #place: ControllerPlace = { media: '', device: '', node: '', console: '', event: '', certificate: '' }
  #since: number
  #leader: KnownController | undefined
  #lease: Lease | undefined
  #joined = false
  #closed: Promise<void> | undefined
  #named = false
  /** Whether this member has led, or tried to: it cannot lead a second time. */
  #spent = false
  #led: { store: DatabaseStore; link: Link } | undefined

  constructor(options: MemberOptions, own: OwnState) {
    const { name, version, sealer, logger, clock = wallClock, migrations = knownMigrations } = options
    const { databaseDeadlines: deadlines = defaultDeadlines } = options
    const { id, address, folderId, found, roomNumbers, unlock } = own
    const { before, ...lasting } = options
    this.id = id
    // Without the previous membership: otherwise each membership would keep all earlier ones in memory.
    this.#options = lasting
    this.#address = address
    this.#deadlines = deadlines
    this.#times = { ...electionTimes, ...options.times }
    this.#clock = clock
    this.#found = found
    this.#unlock = unlock
    this.#roomNumbers = roomNumbers
    this.#since = clock()
    const onError = (error: unknown): void => logger?.error({ err: error }, 'unexpected error in the store')
    this.#follower = new Follower({
      address,
      deadlines,
      migrations,
      before,
      onLost: (lost) => this.#lost(lost),
      onError,
    })
    this.#leader = before?.leader()
    this.followed = this.#follower
    this.knownTerms = before?.knownTerms ?? new KnownTerms()
    const { register = () => Promise.resolve('gone' as const) } = options
    this.#registration = new Registration({
      id,
      register: (leader, signal) => register(leader, { id, name, version, place: this.#place }, signal),
      patienceMs: this.#times.comeBack,
      betweenMs: this.#times.renew,
      onNews: () => this.#candidate.lookNow(),
    })
    this.#ownRow = new OwnRow({
      folder: folderId,
      path: options.folder,
      betweenMs: this.#times.renew,
      content: () => this.#content(),
      hasSeveralServers: address.hosts.length > 1,
    })
    this.#durability = new Durability({
      address,
      onFound: (risk, sentence) => logger?.warn({ risk }, sentence),
      onGone: (risk) => logger?.info({ risk }, 'The database is as durable again as before.'),
      onUnread: (error) => logger?.warn({ err: error }, 'It is not known whether the database can lose changes.'),
    })
    this.#candidate = new ElectionCandidate({
      id,
      name,
      address,
      deadlines,
      times: this.#times,
      sealer,
      migrations,
      follower: this.#follower,
      registration: this.#registration,
      roomNumbers,
      clock,
      ownRow: this.#ownRow,
      durability: this.#durability,
      knownTerms: this.knownTerms,
      onLeader: (row) => this.#lookedUp(row),
      // Before the first read, the start itself reports its failure.
      onTrouble: (message, error) => this.#joined && logger?.warn({ err: error }, message),
    })
    const joined = (): void => {
      this.#joined = true
    }
    this.first.then(joined, joined)
  }

  /** Resolves when the site was read for the first time; rejects with the error of the first attempt. */
  get first(): Promise<void> {
    return this.#candidate.first
  }

  announce(place: ControllerPlace): void {
    const { console: before, certificate } = this.#place
    this.#place = place
    if (place.console !== before || place.certificate !== certificate) this.#registration.again()
    if (this.#lease === undefined) this.#candidate.reportSoon()
    else this.#lease.resend()
  }

  get named(): boolean {
    return this.#named
  }

  get position(): JournalPosition | undefined {
    return this.#led?.store.position ?? this.#follower.position
  }

  leader(): KnownController | undefined {
    return this.#leader
  }

  onLeader(listener: (leader: KnownController | undefined) => void): () => void {
    this.#leaderListeners.add(listener)
    return () => void this.#leaderListeners.delete(listener)
  }

  onLost(listener: (notice: StoreNotice) => void): () => void {
    for (const notice of this.#found) if (notice.lost === true) listener(notice)
    this.#lossListeners.add(listener)
    return () => void this.#lossListeners.delete(listener)
  }

  async controllers(): Promise<readonly KnownController[]> {
    const session = this.#led === undefined ? this.#candidate.current() : this.#led.link.current().session
    return await this.#known(session)
  }

  database(): DatabaseStatus {
    const { shown } = this.#address
    const { risks } = this.#durability
    if (this.#led === undefined) return { shown, risks, ...this.#candidate.status() }
    const away = this.#led.link.away()
    return { shown, risks, awaySince: away?.since ?? 0, error: away?.error.message ?? '' }
  }

  answerLeader(): DatabaseStatus {
    if (this.#led === undefined) this.#candidate.answerLeader()
    return this.database()
  }

  lease(): LeaseFigures | undefined {
    return this.#led === undefined || this.#led.link.fenced !== undefined ? undefined : this.#lease?.figures()
  }

  async lead(signal: AbortSignal): Promise<FencedStore> {
    if (this.#spent) throw new Error('A member leads once: open another.')
    const taken = await this.#candidate.lead(signal)
    this.#spent = true
    this.#named = taken.named
    this.#since = this.#clock()
    this.#follower.ledBy()
    try {
      return await this.#openStore(taken)
    } catch (error) {
      taken.session.destroy()
      throw error
    }
  }

  async handOver(id: string): Promise<void> {
    const led = this.#led
    if (led === undefined) throw notStored('another controller leads this site')
    const known = await this.controllers().catch((error: unknown) => {
      throw notStored(storageReasonOf(error), error)
    })
    const to = known.find((controller) => controller.id === id)
    const { silent, flush, successor } = handOverTimes(this.#times, this.#lease?.roundTrip ?? 0)
    const heard = to !== undefined && this.#clock() - to.seenAt < silent
    if (to === undefined || id === this.id || !heard) {
      const why = to === undefined ? 'Unknown' : id === this.id ? 'LeadsAlready' : 'NotSeen'
      throw new ApiError('parameter', { field: 'id', refusal: refusal(`controller${why}`) })
    }
    await led.store.handOver(to, successor, flush)
  }

  register(joiner: JoiningController): boolean {
    const led = this.#led
    if (this.#lease === undefined || led === undefined || led.link.fenced !== undefined) return false
    if (joiner.place.console === '' || joiner.id === this.id) return false
    const now = this.#clock()
    this.#lease.register({ ...joiner, role: 'standby', behind: 0, behindFor: 0, seenAt: now, since: now })
    return true
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#lease?.end()
    await this.#candidate.close()
    this.#led?.link.destroy()
    await this.#unlock()
  }

  async #openStore(taken: Taken): Promise<DatabaseStore> {
    const { session, won, stored } = taken
    let link: Link | undefined
    const store = await openLeaderSite(
      { ...this.#options, databaseDeadlines: this.#deadlines },
      {
        address: this.#address,
        session,
        won,
        read: this.#inMemory(taken),
        trail: this.#follower.trail,
        stored,
        found: this.#found,
        roomNumbers: this.#roomNumbers,
        // This controller keeps the folder locked even after it stops leading.
        unlock: () => Promise.resolve(),
        lease: (way) => {
          link = way
          this.#lease = this.#newLease(way, taken)
          return this.#lease
        },
      },
    )
    if (link === undefined) throw new Error('A store without a connection.')
    this.#led = { store, link }
    const { term, whenFenced } = link
    this.knownTerms.lead(term)
    link.onBack(() => this.knownTerms.lead(this.#led?.link.term ?? term))
    const fenced = whenFenced.then((error) => {
      // After a hand-over, the term lasts until the successor takes over.
      if (link !== undefined && !(error instanceof HandedOverError)) this.knownTerms.end(link.term.id)
      this.#notify(error.by)
    })
    mustNotFail(fenced)
    this.#notify(this.#itself())
    return store
  }

  #itself(): KnownController {
    const { name, version } = this.#options
    const now = { behind: 0, behindFor: 0, seenAt: this.#clock(), since: this.#since }
    return { id: this.id, name, version, place: this.#place, role: 'leader', ...now }
  }

  #newLease(link: Link, { provedAt, provedIn, heedReads }: Taken): Lease {
    const { logger, askOthers = () => Promise.resolve({ reachDatabase: false, unproven: false }) } = this.#options
    return new Lease({
      link,
      times: this.#times,
      provedAt,
      provedIn,
      heedReads,
      held: new HeldLease((error) => logger?.error({ err: error }, 'unexpected error when the lease changed')),
      askOthers,
      report: async (session) => {
        await this.#ownRow.write(session)
        await this.#durability.look(session)
        this.#tellShared(this.#ownRow.shared)
        const known = await this.#known(session)
        this.#notify(known.find(({ role }) => role === 'leader'))
        return known
      },
      onError: (error) => logger?.warn({ err: error }, 'The lease of this controller cannot be renewed.'),
    })
  }

  /** Returns the state in memory in the form of a state that was just read. */
  #inMemory({ snapshot }: Taken): DatabaseState {
    const { read, last, position, roomNumber } = this.#follower
    if (read === undefined) throw new Error('Nothing was read yet.')
    const journalBytes = this.#follower.bytesBehind(snapshot?.seq ?? 0)
    return {
      ...read,
      last,
      lastTerm: position?.lastTerm,
      roomNumber,
      journalBytes,
      snapshotBytes: snapshot?.bytes ?? 0,
      snapshotAt: snapshot?.at ?? 0,
    }
  }

  #content(): ControllerReport {
    const { name, version } = this.#options
    const applied = this.#led === undefined ? this.#follower.last : this.#led.store.stored
    return { id: this.id, name, version, place: this.#place, applied, since: this.#since }
  }

  #tellShared(error: Error | undefined): void {
    if (error !== undefined && !this.#isTold) this.#options.logger?.error({ err: error }, error.message)
    this.#isTold = error !== undefined
  }

  #known(session: DatabaseSession): Promise<ReportedController[]> {
    return readControllers(session, this.id, this.#times.lease, this.#clock())
  }

  /** Keeps the notice for the console, which this controller serves when it is leader. */
  #lost(lost: LostLines): void {
    const message = lossMessage(lost, this.#address.shown)
    this.#options.logger?.warn({}, message)
    const { since } = lost
    const notice: StoreNotice = {
      ...{ level: 'warning', at: this.#clock(), code: 'damaged', message, lost: true },
      ...(since === undefined ? {} : { since }),
    }
    this.#found.push(notice)
    for (const listener of this.#lossListeners) listener(notice)
  }

  #lookedUp(row: LeaderRow | undefined): void {
    this.#notify(leaderOf(row, this.#clock()))
  }

  #notify(leader: KnownController | undefined): void {
    const before = this.#leader
    this.#leader = leader
    if (before?.id === leader?.id && JSON.stringify(before?.place) === JSON.stringify(leader?.place)) return
    for (const listener of this.#leaderListeners) listener(leader)
  }
}

import { wallClock } from '../system/time.ts'
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
import type { StoreNotice } from '../store.ts'
import { readControllers } from './controller-rows.ts'
import { OwnRow } from './own-row.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import { Follower } from './follower.ts'
import { KnownLeader } from './known-leader.ts'
import { LeaderRole, notLeading } from './leader-role.ts'
import { Durability } from '../postgres/durability.ts'
import type { Membership, MemberOptions } from './member-options.ts'
import type { RoomNumberRecord } from '../postgres/room-number-blocks.ts'
import { defaultDeadlines } from '../postgres/database-session.ts'
import { ElectionCandidate } from './candidate.ts'
import type { Reachability } from './database-reach.ts'
import { KnownTerms } from './known-terms.ts'
import type { JournalPosition } from './journal-trail.ts'
import { LossNotices } from './lost-lines.ts'
import { electionTimes } from './timings.ts'

/** Contents of a controller's own data folder. */
export interface OwnState {
  id: string
  address: DatabaseAddress
  /** Id of the data folder: see `idOfFolder`. */
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
  readonly #membership: Membership
  readonly #candidate: ElectionCandidate
  readonly #unlock: () => Promise<void>
  /** Role of the leader; undefined until this member takes over. A member leads at most once. */
  #role: LeaderRole | undefined
  #closed: Promise<void> | undefined

  constructor(options: MemberOptions, own: OwnState) {
    this.#membership = membershipOf(options, own)
    const { id, follower, knownTerms } = this.#membership
    this.id = id
    this.followed = follower
    this.knownTerms = knownTerms
    this.#unlock = own.unlock
    this.#candidate = new ElectionCandidate(this.#membership)
  }

  /** Resolves when the site was read for the first time; rejects with the error of the first attempt. */
  get first(): Promise<void> {
    return this.#candidate.first
  }

  announce(place: ControllerPlace): void {
    if (this.#membership.ownRow.announce(place)) this.#candidate.registration.again()
    if (this.#role === undefined) this.#candidate.reportSoon()
    else this.#role.resend()
  }

  get named(): boolean {
    return this.#role?.named ?? false
  }

  get position(): JournalPosition | undefined {
    return this.#role?.position ?? this.#membership.follower.position
  }

  leader(): KnownController | undefined {
    return this.#membership.leader.current
  }

  onLeader(listener: (leader: KnownController | undefined) => void): () => void {
    return this.#membership.leader.onChange(listener)
  }

  onLost(listener: (notice: StoreNotice) => void): () => void {
    return this.#membership.losses.onLost(listener)
  }

  async controllers(): Promise<readonly KnownController[]> {
    const session = this.#role?.session() ?? this.#candidate.reach.current()
    return await readControllers(session, this.#membership)
  }

  database(): DatabaseStatus {
    return this.#statusOf(this.#role?.status() ?? this.#candidate.reach.status())
  }

  answerLeader(): DatabaseStatus {
    return this.#statusOf(this.#role?.status() ?? this.#candidate.answerLeader())
  }

  lease(): LeaseFigures | undefined {
    return this.#role?.figures()
  }

  async lead(signal: AbortSignal): Promise<FencedStore> {
    if (this.#role !== undefined) throw new Error('A member leads once: open another.')
    const taken = await this.#candidate.lead(signal)
    this.#role = new LeaderRole(this.#membership, taken)
    return await this.#role.open()
  }

  async handOver(id: string): Promise<void> {
    if (this.#role === undefined) throw notLeading()
    await this.#role.handOver(id)
  }

  register(joiner: JoiningController): boolean {
    return this.#role?.register(joiner) ?? false
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#role?.end()
    await this.#candidate.close()
    this.#role?.disconnect()
    await this.#unlock()
  }

  #statusOf(reachability: Reachability): DatabaseStatus {
    const { address, durability } = this.#membership
    return { shown: address.shown, risks: durability.risks, ...reachability }
  }
}

function membershipOf(
  { before, ...options }: MemberOptions,
  { id, address, folderId, found, roomNumbers }: OwnState,
): Membership {
  const { folder: path, name, version, logger } = options
  const { clock = wallClock, migrations = knownMigrations, databaseDeadlines = defaultDeadlines } = options
  const times = { ...electionTimes, ...options.times }
  const losses = new LossNotices({ found, address, clock, logger })
  return {
    // `before` is left out: otherwise each membership would keep all earlier memberships in memory.
    ...options,
    ...{ id, address, roomNumbers, clock, migrations, databaseDeadlines, times, losses },
    askOthers: options.askOthers ?? (() => Promise.resolve({ reachDatabase: false, unproven: false })),
    register: options.register ?? (() => Promise.resolve('gone')),
    follower: new Follower({
      ...{ address, deadlines: databaseDeadlines, migrations, before, losses },
      onError: (error) => logger?.error({ err: error }, 'unexpected error in the store'),
    }),
    leader: new KnownLeader(before?.leader()),
    knownTerms: before?.knownTerms ?? new KnownTerms(),
    ownRow: new OwnRow({
      ...{ id, name, version, path, folder: folderId },
      betweenMs: times.renew,
      hasSeveralServers: address.hosts.length > 1,
      since: clock(),
    }),
    durability: new Durability(address, logger),
  }
}

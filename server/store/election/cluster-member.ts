import { takeDataFolder } from '../files/data-folder.ts'
import { StoreVersionError } from '../migrations.ts'
import { parseDatabaseAddress } from '../postgres/database-address.ts'
import { DatabaseError } from '../postgres/database-error.ts'
import { cannotBeUsed } from '../postgres/open-database.ts'
import { openRoomNumberFile } from '../postgres/room-numbers.ts'
import type { StoreNotice } from '../store.ts'
import { ElectionCandidate } from './candidate.ts'
import { controllerId, idOfFolder } from './controller-id.ts'
import { readControllers } from './controller-rows.ts'
import type { Reachability } from './database-reach.ts'
import { LeaderRole, notLeading } from './leader-role.ts'
import { type MemberOptions, type Membership, membershipOf, type OwnState } from './membership.ts'
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
import type { JournalPosition, KnownTerms } from './term-history.ts'

/**
 * Joins the controllers of the site in a database: this controller follows the site in memory, and can lead it. The
 * data folder contains what belongs to this controller: keys, backups, the event log.
 * @throws DatabaseError when the database cannot be used (while it is unreachable: see `whenAway`)
 * @throws StoreVersionError when a newer Roomdesk wrote the database
 * @throws StoreLockedError when another process uses the data folder
 */
export async function openMember(options: MemberOptions): Promise<SiteMember> {
  const { folder, database, logger, whenAway = 'fail' } = options
  const address = parseDatabaseAddress(database)
  const { found, unlock } = await takeDataFolder(options, address.shown)
  let member: ClusterMember | undefined
  try {
    const id = await controllerId(folder)
    const roomNumbers = await openRoomNumberFile(folder, logger)
    const folderId = await idOfFolder(folder)
    member = new ClusterMember(options, { id, address, folderId, found, roomNumbers, unlock })
    await member.first.catch((error: unknown) => {
      if (error instanceof DatabaseError || error instanceof StoreVersionError) throw error
      if (whenAway === 'fail') throw cannotBeUsed(address, error)
    })
    return member
  } catch (error) {
    await (member === undefined ? unlock() : member.close())
    throw error
  }
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

import { migrations as knownMigrations } from '../migrations.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import { Durability } from '../postgres/database-risks.ts'
import { defaultDeadlines } from '../postgres/database-session.ts'
import type { RoomNumberRecord } from '../postgres/room-numbers.ts'
import type { StoreOptions } from '../store-options.ts'
import type { StoreNotice } from '../store.ts'
import { wallClock } from '../system/time.ts'
import { OwnRow } from './controller-rows.ts'
import { Follower } from './follower.ts'
import { LossNotices } from './lost-lines.ts'
import type { JoiningController, KnownController, SiteMember } from './site-member.ts'
import { KnownTerms } from './term-history.ts'
import { type ElectionTimes, electionTimes } from './timings.ts'

/** Answers of the other controllers while this controller cannot reach the database. */
export interface OthersAnswers {
  /**
   * Current leader; if several controllers claim to lead, the controller with the highest epoch. Left out: no
   * controller leads.
   */
  leader?: { id: string; epoch: string }
  /** Highest epoch with which one of these controllers has led, or that one of them has read; left out: none. */
  epoch?: string
  /** Whether a replica reaches the database: it may take over at any moment. */
  reachDatabase: boolean
  /**
   * Whether a controller did not answer, or another controller answered at its address. The missing controller may
   * lead.
   */
  unproven: boolean
}

/**
 * Asks other controllers over the network.
 * @param others known controllers without this controller
 * @param signal aborts at the deadline
 */
export type AskOthers = (others: readonly KnownController[], signal: AbortSignal) => Promise<OthersAnswers>

/**
 * Registers a controller with the leader, over the network. Rejects when the request failed although the leader is
 * running.
 * @returns `known`: registered; `gone`: the leader is not running; `open`: the leader is running, but does not register
 * the controller now
 */
export type RegisterWithLeader = (
  leader: Pick<KnownController, 'id' | 'place'>,
  joiner: JoiningController,
  signal: AbortSignal,
) => Promise<'known' | 'gone' | 'open'>

export interface MemberOptions extends Omit<StoreOptions, 'database'> {
  /** Address of the database, `postgres://…`. */
  database: string
  name: string
  version: string
  /**
   * Behavior of a start while the database is unreachable. `fail`: the start rejects with advice. `wait`: the member is
   * created at once, with empty memory until the database is reachable.
   * Default: fail.
   */
  whenAway?: 'fail' | 'wait'
  /**
   * Previous membership of this program. Its memory, and its information about the leader, are used until the database
   * is reached.
   */
  before?: Pick<SiteMember, 'followed' | 'leader' | 'knownTerms' | 'position'>
  /** Left out: other controllers receive no requests, and reads continue while the database is unreachable. */
  askOthers?: AskOthers
  /** Left out: registration is not needed. */
  register?: RegisterWithLeader
  /** Times instead of the defaults: for tests. */
  times?: Partial<ElectionTimes>
}

type Defaulted = 'clock' | 'migrations' | 'databaseDeadlines' | 'askOthers' | 'register'

/** Options of a membership, with defaults, and the objects that both roles (replica and leader) use. */
export interface Membership
  extends Omit<MemberOptions, 'before' | 'times' | Defaulted>,
    Required<Pick<MemberOptions, Defaulted>> {
  id: string
  address: DatabaseAddress
  times: ElectionTimes
  follower: Follower
  roomNumbers: RoomNumberRecord
  ownRow: OwnRow
  durability: Durability
  knownTerms: KnownTerms
  leader: KnownLeader
  losses: LossNotices
}

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

/** Creates the objects of a membership, and completes its options. */
export function membershipOf(
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

/** The leader of the site, as last read from the database or announced by this controller. */
class KnownLeader {
  readonly #listeners = new Set<(leader: KnownController | undefined) => void>()
  #current: KnownController | undefined

  /** @param before the leader known to the previous membership */
  constructor(before: KnownController | undefined) {
    this.#current = before
  }

  /** See `SiteMember.leader`. */
  get current(): KnownController | undefined {
    return this.#current
  }

  /** Sets the leader. Notifies listeners only if another controller leads, or the address has changed. */
  set(leader: KnownController | undefined): void {
    const before = this.#current
    this.#current = leader
    if (before?.id === leader?.id && JSON.stringify(before?.place) === JSON.stringify(leader?.place)) return
    for (const listener of this.#listeners) listener(leader)
  }

  /** @returns the unsubscribe function */
  onChange(listener: (leader: KnownController | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

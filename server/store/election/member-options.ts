import type { StoreOptions } from '../store-options.ts'
import type { JoiningController, KnownController, SiteMember } from './site-member.ts'
import type { Durability } from '../postgres/durability.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import type { RoomNumberRecord } from '../postgres/room-number-blocks.ts'
import type { Follower } from './follower.ts'
import type { KnownLeader } from './known-leader.ts'
import type { KnownTerms } from './known-terms.ts'
import type { LossNotices } from './lost-lines.ts'
import type { OwnRow } from './own-row.ts'
import type { ElectionTimes } from './timings.ts'

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

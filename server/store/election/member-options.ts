import type { StoreOptions } from '../store-options.ts'
import type { JoiningController, KnownController, SiteMember } from './site-member.ts'
import type { ElectionTimes } from './timings.ts'

/** Answer of the other controllers while this one cannot reach the database. */
export interface OthersAnswers {
  /** The one that leads, that with the highest epoch when several say so; left out: none was found leading. */
  leader?: { id: string; epoch: string }
  /** The highest epoch that one of them has led with or read; left out: none is known. */
  epoch?: string
  /** One that does not lead reaches the database: it may take over at any moment. */
  reachDatabase: boolean
  /** One of them did not answer, or an answer was not that controller's: it may lead. */
  unproven: boolean
}

/**
 * Asks other controllers over the network. @param others known controllers without this one @param signal aborts at the latest
 * moment
 */
export type AskOthers = (others: readonly KnownController[], signal: AbortSignal) => Promise<OthersAnswers>

/**
 * Registers a controller with the leader, over the network. Rejects when the request failed although the leader is there.
 * @returns `known`: registered; `gone`: nobody is there; `open`: somebody is there who does not register it now
 */
export type RegisterWithLeader = (
  leader: Pick<KnownController, 'id' | 'place'>,
  joiner: JoiningController,
  signal: AbortSignal,
) => Promise<'known' | 'gone' | 'open'>

export interface MemberOptions extends Omit<StoreOptions, 'database'> {
  /** Address of the database, `postgres://…`. */
  database: string
  /** Display name of this controller. */
  name: string
  /** Version of Roomdesk. */
  version: string
  /**
   * Behaviour of a start while the database is away. `fail`: it rejects with a remedy. `wait`: the member exists at once, with nothing in memory until the database is back.
   * Default: fail.
   */
  whenAway?: 'fail' | 'wait'
  /** The membership of this program that has ended: what it had in memory and knew of the leader counts until the database is reached. */
  before?: Pick<SiteMember, 'followed' | 'leader' | 'knownTerms' | 'position'>
  /** Left out: nobody else is asked, and reads go on while the database is away. */
  askOthers?: AskOthers
  /** Left out: there is no leader to register with. */
  register?: RegisterWithLeader
  /** For tests. */
  times?: Partial<ElectionTimes>
}

import type { DurabilityRisk } from '../../../shared/domain/database-risks.ts'
import type { Store, StoreNotice } from '../store.ts'
import type { JournalPosition, KnownTerms } from './term-history.ts'

/**
 * Role of a controller. The leader answers requests, stores changes and runs the nodes. All other controllers are
 * replicas.
 */
export type ControllerRole = 'leader' | 'standby'

/** Addresses of a controller for other machines; empty: the controller does not listen. */
export interface ControllerPlace {
  media: string
  device: string
  node: string
  console: string
  event: string
  /**
   * PEM certificate that the controller's listeners, including plain HTTP listeners, show to other controllers; empty:
   * none, as in older versions.
   */
  certificate: string
}

/** A controller of the site, as described in the database. */
export interface KnownController {
  /** Id stored in the controller's data folder, unchanged by a restart. */
  id: string
  /** Host name, or the name from the options. */
  name: string
  version: string
  place: ControllerPlace
  role: ControllerRole
  /** Number of stored journal lines that are not in the controller's memory yet. */
  behind: number
  /** Age of the oldest missing line, in milliseconds; 0: no line is missing. */
  behindFor: number
  /**
   * Time of the controller's last report, in milliseconds since the epoch; older than a few seconds: the controller is
   * not running.
   */
  seenAt: number
  /** Start of the current role, in milliseconds since the epoch. */
  since: number
}

/** Data that a controller sends when it joins. */
export type JoiningController = Pick<KnownController, 'id' | 'name' | 'version' | 'place'>

/** State of a site's database, as seen by this controller. */
export interface DatabaseStatus {
  shown: string
  /** Time since which the database is unreachable, in milliseconds since the epoch; 0: reachable. */
  awaySince: number
  /** Last error while the database is unreachable; empty: reachable. */
  error: string
  /** Settings of the database that can lose a confirmed change, as last read. */
  risks: readonly DurabilityRisk[]
}

/** State of the site in the memory of a replica, which follows the journal line by line. */
export type FollowedStore = Pick<Store, 'get' | 'all' | 'onChange'>

/** The store of the leader. */
export interface FencedStore extends Store {
  /**
   * Decimal number that each takeover, and each reconnection to the database, raises: the controller with the highest
   * epoch leads.
   */
  readonly epoch: string
  /**
   * Returns undefined while reads may be answered from memory, because no other controller can have taken over.
   * Otherwise returns a promise, which resolves when this is certain again, or when no other leader is found while the
   * database is unreachable.
   * The promise rejects with FencedError if another controller leads, and with ApiError 'storage' if the leader is
   * still unknown at the deadline of a change.
   */
  confirmed(): Promise<void> | undefined
  /**
   * Resolves when another controller leads, or this controller has handed over: from then on, this store rejects
   * changes.
   */
  readonly fenced: Promise<Error>
}

/** This controller as a member of its site. */
export interface SiteMember {
  readonly id: string
  readonly followed: FollowedStore
  /** Known terms, for the next membership. */
  readonly knownTerms: KnownTerms
  /** Journal position of memory, for the next membership; undefined: nothing was read. */
  readonly position: JournalPosition | undefined
  /**
   * Announces the addresses of this controller to the other controllers, as soon as the database is reachable. Call it
   * again when the addresses change.
   */
  announce(place: ControllerPlace): void
  /**
   * Returns the known leader; undefined: there is none, or its lease has expired. While the database is unreachable:
   * the last leader.
   */
  leader(): KnownController | undefined
  /**
   * @param listener called when the leader or its address changes, or its lease expires
   * @returns the unsubscribe function
   */
  onLeader(listener: (leader: KnownController | undefined) => void): () => void
  /**
   * Calls the listener with each loss of confirmed changes that this controller finds, including losses found already.
   * The listener marks recorded losses as `logged`.
   */
  onLost(listener: (notice: StoreNotice) => void): () => void
  /** Whether this controller became leader because the previous leader handed over to it. */
  readonly named: boolean
  /**
   * Returns all controllers that reported in the last day, from the database; this controller first. Rejects while the
   * database is unreachable.
   */
  controllers(): Promise<readonly KnownController[]>
  /** Returns the state of the database. Has no side effects. */
  database(): DatabaseStatus
  /**
   * Answers a leader that cannot reach the database. The leader then gets time to reconnect before this controller
   * leads.
   */
  answerLeader(): DatabaseStatus
  /** Returns the certainty of the leadership; undefined: this controller does not lead. */
  lease(): LeaseFigures | undefined
  /**
   * Waits until this controller leads: the lock is free or its holder's lease has expired, the epoch is raised, and
   * memory contains all stored changes.
   * @throws the abort reason of `signal`; DatabaseError when this program cannot lead the site at all
   */
  lead(signal: AbortSignal): Promise<FencedStore>
  /**
   * Hands over to another controller: stores pending changes, then names the successor, and `FencedStore.fenced`
   * resolves. Only the leader can hand over.
   * @throws ApiError 'parameter' when the controller is unknown or not running, 'storage' when the database is
   * unreachable; this controller then continues to lead
   */
  handOver(id: string): Promise<void>
  /**
   * Records a controller that has joined, because the database may be unreachable at the time.
   * @returns false: this controller does not lead, or the joining controller has no address
   */
  register(joiner: JoiningController): boolean
  /** Leaves the site. Idempotent. The store of a leader must be closed before. */
  close(): Promise<void>
}

/** Figures about the lease of a leader. */
export interface LeaseFigures {
  /** Epoch, raised by each change of the leader, and by each reconnection to the database. */
  epoch: number
  /** Milliseconds since the last proof by the database. */
  provedFor: number
  /** Number of times that reads could not be answered from memory until the next proof. */
  lapses: number
  /** Number of requests that had to wait for a proof. */
  waits: number
}

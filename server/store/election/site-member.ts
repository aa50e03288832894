import type { DurabilityRisk } from '../../../shared/domain/durability.ts'
import type { Store, StoreNotice } from '../store.ts'
import type { JournalPosition } from './journal-trail.ts'
import type { KnownTerms } from './known-terms.ts'

/** One controller of a site leads: it answers, stores and runs the nodes. The others are replicas. */
export type ControllerRole = 'leader' | 'standby'

/** Addresses of a controller for other machines; empty: it does not listen. */
export interface ControllerPlace {
  media: string
  device: string
  node: string
  console: string
  event: string
  /**
   * The certificate that its listeners show to other controllers, including plain HTTP listeners, PEM; empty: none, as
   * in older versions.
   */
  certificate: string
}

/** A controller of the site, as described in the database. */
export interface KnownController {
  /** Stored in its data folder: the same after a restart. */
  id: string
  /** Host name, or the name from the options. */
  name: string
  version: string
  place: ControllerPlace
  role: ControllerRole
  /** Number of stored journal lines that are not in its memory yet. */
  behind: number
  /** Age of the oldest of these lines, in milliseconds; 0: none is missing. */
  behindFor: number
  /**
   * Time of its last report, in milliseconds since the epoch; older than a few seconds: the controller is not running.
   */
  seenAt: number
  /** Since when it has this role, in milliseconds since the epoch. */
  since: number
}

/** Data that a controller sends when it joins. */
export type JoiningController = Pick<KnownController, 'id' | 'name' | 'version' | 'place'>

/** State of a site's database, as seen by this controller. */
export interface DatabaseStatus {
  shown: string
  /** Since when it is unreachable, in milliseconds since the epoch; 0: it is reachable. */
  awaySince: number
  /** Error while it is unreachable; empty: it is reachable. */
  error: string
  /** Settings of the database that can lose a confirmed change, as last read. */
  risks: readonly DurabilityRisk[]
}

/** State of the site in the memory of a replica, which follows the journal line by line. */
export type FollowedStore = Pick<Store, 'get' | 'all' | 'onChange'>

/** The store of the leader. */
export interface FencedStore extends Store {
  /**
   * Raised by each takeover, and when this controller reconnects to the database: the controller with the highest epoch
   * leads. A decimal number.
   */
  readonly epoch: string
  /**
   * Whether reads may be answered from memory: undefined (no promise) while no other controller can have taken over.
   * Otherwise the promise resolves when that is certain again, or when no other leader is found while the database is
   * unreachable.
   * It rejects with FencedError if another controller leads, and with ApiError 'storage' if the leader is still unknown
   * at the deadline of a change.
   */
  confirmed(): Promise<void> | undefined
  /** Resolves when another controller leads, or this one has handed over: this store cannot store anything any more. */
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
   * Announces the addresses of this controller to the others; call it again when they change. Never rejects: it waits
   * for the database.
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
  /** Whether it became leader because the previous leader handed over to it. */
  readonly named: boolean
  /**
   * Returns all controllers that reported in the last day, from the database; this one first. Rejects while the
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
  /** Returns the certainty of the leadership; undefined: it does not lead. */
  lease(): LeaseFigures | undefined
  /**
   * Waits until this controller leads: the lock is free or its holder's lease has expired, the epoch is raised, and
   * memory has all stored changes.
   * @throws the abort reason of `signal`; DatabaseError when this program cannot lead the site at all
   */
  lead(signal: AbortSignal): Promise<FencedStore>
  /**
   * Hands over to another controller on request: stores pending changes, then the other one leads, and
   * `FencedStore.fenced` resolves. Only the leader can hand over.
   * @throws ApiError 'parameter' when the controller is unknown or not running, 'storage' when the database is
   * unreachable: then this one continues to lead
   */
  handOver(id: string): Promise<void>
  /**
   * Records a controller that has joined, because the database may be unreachable at the time.
   * @returns false: this controller does not lead, or cannot reach the other one
   */
  register(joiner: JoiningController): boolean
  /** Leaves the site. Idempotent. The store of a leader must be closed before. */
  close(): Promise<void>
}

/** Certainty of a leader about its leadership. */
export interface LeaseFigures {
  /** Raised by each change of the leader, and by each reconnection to the database. */
  epoch: number
  /** Milliseconds since the last proof by the database. */
  provedFor: number
  /** Number of times that reads could not be answered from memory until the next proof. */
  lapses: number
  /** Number of requests that had to wait for a proof. */
  waits: number
}

import type { DurabilityRisk } from '../../../shared/domain/durability.ts'
import type { Store, StoreNotice } from '../store.ts'
import type { JournalPosition } from './journal-trail.ts'
import type { KnownTerms } from './known-terms.ts'

/** One controller of a site leads: it answers, stores and runs the nodes. The others stand by. */
export type ControllerRole = 'leader' | 'standby'

/** Addresses of a controller for other machines; empty where it does not listen. */
export interface ControllerPlace {
  media: string
  device: string
  node: string
  console: string
  event: string
  /** The certificate that its listeners show other controllers, those of plain HTTP as well, PEM; empty: none, as older versions. */
  certificate: string
}

/** A controller of the site, as the database knows it. */
export interface KnownController {
  /** Kept in its data folder: the same after a restart. */
  id: string
  /** Name of its machine, or the name from the options. */
  name: string
  /** Version of Roomdesk. */
  version: string
  place: ControllerPlace
  role: ControllerRole
  /** Journal lines that are stored and not in its memory yet. */
  behind: number
  /** How long the oldest of these has been stored, in milliseconds; 0: none is missing. */
  behindFor: number
  /** Time of its last report, milliseconds since the epoch; more than a few seconds ago: it is gone. */
  seenAt: number
  /** Since when it has this role, milliseconds since the epoch. */
  since: number
}

/** Data that a controller sends when it joins. */
export type JoiningController = Pick<KnownController, 'id' | 'name' | 'version' | 'place'>

/** The database of a site, as this controller sees it. */
export interface DatabaseStatus {
  /** Address without password. */
  shown: string
  /** Since when it cannot be reached, milliseconds since the epoch; 0: it can. */
  awaySince: number
  /** Why; empty: it can. */
  error: string
  /** Its settings by which a confirmed change can be lost, as read last. */
  risks: readonly DurabilityRisk[]
}

/** State of the site in memory while another controller leads: followed line by line. */
export type FollowedStore = Pick<Store, 'get' | 'all' | 'onChange'>

/** The store of the controller that leads. */
export interface FencedStore extends Store {
  /** Raised by everybody who takes over, and when this controller comes back to its database: who has the highest leads. A decimal number. */
  readonly epoch: string
  /**
   * Whether reads may be answered from memory: undefined (no promise) while nobody else can have taken over. Otherwise it resolves once that is sure again, or no other leader is
   * found while the database is away. It rejects with FencedError where another controller leads, and with ApiError 'storage' where neither is known by the deadline of a change.
   */
  confirmed(): Promise<void> | undefined
  /** Resolves when another controller leads, or this one has handed over: nothing of ours is stored any more. */
  readonly fenced: Promise<Error>
}

/** This controller among those of its site. */
export interface SiteMember {
  /** Identifier of this controller. */
  readonly id: string
  readonly followed: FollowedStore
  /** For the membership after this one. */
  readonly knownTerms: KnownTerms
  /** How far its memory holds the journal, for the membership after this one; undefined: it has read nothing. */
  readonly position: JournalPosition | undefined
  /** Announces the addresses of this controller to the others; again when they change. Never rejects: it waits for the database. */
  announce(place: ControllerPlace): void
  /** Known leader; undefined: there is none, or its lease is over. While the database is away: the last leader. */
  leader(): KnownController | undefined
  /** @param listener called when another leads, nobody does any more, or its place has changed. @returns the unsubscribe function */
  onLeader(listener: (leader: KnownController | undefined) => void): () => void
  /** Calls the listener with each loss of confirmed changes that this controller finds, also with those found already. It marks as `logged` what it has recorded. */
  onLost(listener: (notice: StoreNotice) => void): () => void
  /** It leads, or led, because the leader before handed over to it. */
  readonly named: boolean
  /** All controllers that reported in the last day, as the database has them; this one first. Rejects when it is away. */
  controllers(): Promise<readonly KnownController[]>
  /** Reads only. */
  database(): DatabaseStatus
  /** Answers the question of a leader that cannot reach the database, which then gets time to come back before this controller leads. */
  answerLeader(): DatabaseStatus
  /** How sure it is that it leads; undefined: it does not lead. */
  lease(): LeaseFigures | undefined
  /**
   * Waits until this controller leads: the lock is free or its holder's lease is over, the epoch is raised, everything that was stored is in memory.
   * @throws what `signal` is aborted with; DatabaseError where the site cannot be led by this program at all
   */
  lead(signal: AbortSignal): Promise<FencedStore>
  /**
   * Hands over by hand: stores what is under way, then that controller leads, and `FencedStore.fenced` resolves. Only while this one leads.
   * @throws ApiError 'parameter' when it is unknown or silent, 'storage' when the database is away: then this one leads on
   */
  handOver(id: string): Promise<void>
  /** Takes note of a controller that has joined: the database may not be asked in time. @returns false: this one does not lead, or cannot ask the other */
  register(joiner: JoiningController): boolean
  /** Idempotent. A store that it led with is closed before. */
  close(): Promise<void>
}

/** Certainty of a leader about its leadership. */
export interface LeaseFigures {
  /** Raised by each change of the leader, and each reconnection to the database. */
  epoch: number
  /** Milliseconds since the database last proved it. */
  provedFor: number
  /** Times that memory could not answer, until it was proved again. */
  lapses: number
  /** Requests that had to wait for a proof. */
  waits: number
}

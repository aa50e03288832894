import type { Deadline } from '../../../../shared/deadline.ts'
import type { StoredNode, StoredRoom } from '../../../store/records.ts'
import type { MediaNode, NodeHealth } from '../../port/media-node-port.ts'
import type { Steadiness } from './steadiness.ts'

/** A node, with the facts for choosing among nodes. Limits: 0 means no limit. */
export interface Candidate {
  name: string
  /** Whether the node answered the last call, and was not lost recently. */
  reliable: boolean
  idcCode: string
  weight: number
  maxRooms: number
  maxUsers: number
  /** Number of rooms that the node serves or is about to serve. */
  rooms: number
  /** Number of people and devices on the node. */
  users: number
  /** Number of users expected on the node. */
  expected: number
}

/** State of a node by its polls. */
export type HealthState = 'connecting' | 'online' | 'offline'

export interface LiveHealth {
  readonly state: HealthState
  /** Whether the node is offline because it did not answer in time; false if its connection failed. */
  readonly unresponsive: boolean
  /** Whether the last poll failed. */
  readonly failing: boolean
  /** Last answer of the node; undefined unless it is online. */
  readonly last: NodeHealth | undefined
  /** Start of the last successful poll, on the clock of `performance.now()`. */
  readonly lastSuccess: number
  /** Polls at once, or again after the current poll. */
  pollSoon(): void
  /**
   * Polls at once. Resolves when polls that start from now on have shown whether the node is online.
   * @throws the signal's reason
   */
  judged(signal?: AbortSignal): Promise<void>
}

/** Rooms of a node, kept equal to the store. */
export interface LivePlacement {
  wants(roomId: string): boolean
  /** Returns whether the node holds the room and keeps it. O(1). */
  isOpen(roomId: string): boolean
  /** Returns whether the node holds the room or may hold it. O(1). */
  mayHold(roomId: string): boolean
  /** Checks the room, whose record may have changed. O(1). */
  follow(roomId: string): void
  /** Records that the node reported a change of this user. O(1). */
  noteUser(roomId: string, userId: string): void
  /** Reads the users of the room after the node's next successful poll. O(1). */
  recheck(roomId: string): void
  /**
   * Waits until the node holds the room with its stored record.
   * @returns the record that the node holds now; undefined if the room was deleted, is closed, or belongs to another
   * node
   * @throws DeadlineError, NodeError, the signal's reason, ApiError internal if the room cannot be unsealed
   */
  open(roomId: string, deadline: Deadline): Promise<StoredRoom | undefined>
  /**
   * Closes the room. Resolves when the room is empty and the node has closed it. After a failure, closing is retried.
   * @throws DeadlineError, NodeError, the signal's reason
   */
  close(roomId: string, deadline: Deadline): Promise<void>
  /** Closes every room that the node holds. Rooms that fail stay. Never rejects. */
  closeAll(deadline: Deadline): Promise<void>
  /** Handles a successful poll that began at `askedAt`, on the clock of `performance.now()`. */
  healthy(health: NodeHealth, askedAt: number): void
  /**
   * Discards the state of the node's rooms: the node was lost, or restarted without rooms. Pending calls start again
   * while the node is online.
   */
  forget(): void
}

/** Operations of a node that placement uses. */
export interface PlacedNode {
  readonly name: string
  readonly online: boolean
  /** Whether the node is going out of service, and should no longer hold any room. */
  readonly leaving: boolean
  /**
   * Whether the node continued while the controller was down. It then holds the stored rooms, unless it was lost
   * meanwhile.
   */
  readonly resumes: boolean
  /**
   * Makes one call to the driver.
   * @throws DeadlineError, NodeError, the signal's reason
   */
  ask<T>(deadline: Deadline, run: (driver: MediaNode, signal: AbortSignal) => Promise<T>): Promise<T>
}

/** An enabled node, for the other parts of the pool. */
export interface LiveNode extends Candidate, PlacedNode {
  readonly name: string
  readonly driver: MediaNode
  readonly health: LiveHealth
  readonly placement: LivePlacement
  readonly steadiness: Steadiness
  /** Current record. Changes that require another driver create another node instead. */
  config: StoredNode
  /** Whether every movable room was removed from the draining node. */
  drained: boolean
  /** Whether the node is going out of service: its rooms move to other nodes, and it gets no new rooms. */
  leaving: boolean
  /** Resolves after the first poll; undefined from then on. */
  firstPoll: Promise<void> | undefined
  /** Whether requests about rooms may be sent to the node: it is online and not going out of service. */
  readonly serving: boolean
  /** Whether new rooms may be placed on the node. */
  readonly takesRooms: boolean
  /**
   * Records a call without an answer.
   * @param since start of the call; default: now
   */
  unanswered(since?: number): void
  /**
   * Ends polls, calls and the driver.
   * @throws DeadlineError if the driver does not close within `milliseconds`
   */
  close(milliseconds: number): Promise<void>
}

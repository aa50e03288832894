import type { Deadline } from '../../../../shared/deadline.ts'
import type { StoredNode, StoredRoom } from '../../../store/records.ts'
import type { MediaNode, NodeHealth } from '../../port/media-node-port.ts'
import type { PlacedNode } from './placed-node.ts'
import type { Steadiness } from './steadiness.ts'

/** A node as the choice sees it. Limits: 0 is none. */
export interface Candidate {
  name: string
  /** Answers, and was not lost again and again. */
  reliable: boolean
  idcCode: string
  weight: number
  maxRooms: number
  maxUsers: number
  /** Rooms that it serves or is about to serve. */
  rooms: number
  /** People and devices on it. */
  users: number
  /** Users who are about to come to it. */
  expected: number
}

/** State of a node by its polls. */
export type HealthState = 'connecting' | 'online' | 'offline'

/** Health of a node by its polls. */
export interface LiveHealth {
  readonly state: HealthState
  /** The node is offline because it does not answer, rather than gone. */
  readonly unresponsive: boolean
  /** The last poll failed. */
  readonly failing: boolean
  /** Last answer while online. */
  readonly last: NodeHealth | undefined
  /** Begin of the last successful poll, on the clock of `performance.now()`. */
  readonly lastSuccess: number
  /** Polls at once, or once more after the poll under way. */
  pollSoon(): void
  /** Resolves when polls that begin from now on found the node online, or offline. Polls at once. @throws the signal's reason */
  judged(signal?: AbortSignal): Promise<void>
}

/** Rooms of a node as the store wants them. */
export interface LivePlacement {
  wants(roomId: string): boolean
  /** The node holds the room and keeps it. O(1). */
  isOpen(roomId: string): boolean
  /** The node holds the room or may hold it. O(1). */
  mayHold(roomId: string): boolean
  /** Checks the room, whose record may have changed. O(1). */
  follow(roomId: string): void
  /** Notes that the node reported this user by itself. O(1). */
  heard(roomId: string, userId: string): void
  /** Asks the node for the users of the room after its next good poll. O(1). */
  recheck(roomId: string): void
  /** @returns the record that the node holds now; undefined when the room is gone, closed or on another node @throws DeadlineError, NodeError, ApiError */
  open(roomId: string, deadline: Deadline): Promise<StoredRoom | undefined>
  /** Resolves when the room is empty and the node gave it up. @throws DeadlineError, NodeError */
  close(roomId: string, deadline: Deadline): Promise<void>
  /** Closes every room that the node holds; those that fail stay. Never rejects. */
  closeAll(deadline: Deadline): Promise<void>
  /** Handles a successful poll that began at `askedAt`, on the clock of `performance.now()`. */
  healthy(health: NodeHealth, askedAt: number): void
  /** Discards what is known of the node's rooms: the node is lost, or came back empty. */
  forget(): void
}

/** An enabled node as the other parts of the pool see it. */
export interface LiveNode extends Candidate, PlacedNode {
  readonly name: string
  readonly driver: MediaNode
  readonly health: LiveHealth
  readonly placement: LivePlacement
  readonly steadiness: Steadiness
  /** Record as stored now. A change that needs another driver makes another node instead. */
  config: StoredNode
  /** Every room that could be moved off the draining node was moved. */
  drained: boolean
  /** Going out of service: its rooms move to other nodes, and no new ones come. */
  leaving: boolean
  /** Resolves after the first poll; undefined from then on. */
  firstPoll: Promise<void> | undefined
  /** Online and not going out of service: it may be asked about its rooms. */
  readonly serving: boolean
  /** New rooms may be put on it. */
  readonly takesRooms: boolean
  /** Records a call that got no answer. @param since begin of the call; default: now */
  unanswered(since?: number): void
  /** Ends polls, calls and the driver. @throws DeadlineError when the driver does not end within `milliseconds` */
  close(milliseconds: number): Promise<void>
}

import type { Deadline } from '../../../shared/deadline.ts'
import type { DeviceAddress, DeviceLogin } from '../../../shared/device-address.ts'
import type { DeviceErrorKind } from '../../../shared/device.ts'
import { ExpectedError } from '../../../shared/expected-error.ts'
import type { NodeRoom } from '../../../shared/media/node-room.ts'
import type { RecordingOrder } from '../../../shared/recordings/segment.ts'
import type { Shortcoming } from '../../../shared/media/transcoding.ts'
import type { DriftKind, NodeLoad } from '../../../shared/domain/nodes.ts'

export type { NodeRoom }

/** A user in a room of a node. */
export interface NodeUser {
  userId: string
  userName: string
  /** Whether the user is a device; false: a person. */
  device: boolean
  role: 'host' | 'member'
  /**
   * Whether the person joined with the room's number alone. Left out for devices, and for people with a link or
   * password.
   */
  byNumber?: boolean | undefined
  /** Order of the raised hand: a lower number was raised earlier. 0, or left out: not raised. */
  hand?: number | undefined
  /** Time of joining, in milliseconds since the epoch; constant while the user is in the room. */
  joinedAt: number
}

/** A device, with the data that a node needs to pull its stream. */
export interface NodeDevice {
  userId: string
  userName: string
  address: DeviceAddress
  /** A second, smaller stream; undefined if there is none. */
  assistAddress: DeviceAddress | undefined
  login: DeviceLogin | undefined
  /** Whether outdated TLS versions of the device are accepted; left out: no. */
  oldTls?: boolean | undefined
}

/** Facts that a node's program reports about itself. */
export interface NodeProgram {
  /** Version of the program, e.g. `1.1.2`. */
  version: string
  plugins: readonly string[]
  /** Whether the node's events arrive without polling. */
  tells: boolean
  /** Time of the last change of `tells`, in milliseconds since the epoch. */
  eventsSince: number
}

/** Answer of a node to a health poll. */
export interface NodeHealth {
  rooms: number
  users: number
  /** Number of cameras that are pulled. A camera in several rooms counts once. */
  pulls: number
  /** Load of the node; left out: the node reports no load, as is the case for Janus servers. */
  load?: NodeLoad | undefined
}

/**
 * Events of a node. If a call of the controller (kick, closeRoom, addDevice, removeDevice) makes users join or leave,
 * the driver emits these events before the call resolves.
 */
export type NodeEvent =
  /** A person joined, or media of a device started to flow. */
  | { type: 'joined'; roomId: string; user: NodeUser }
  | { type: 'left'; roomId: string; userId: string }
  /** A device in the room failed, so its user has left. `kind` is the reason. */
  | { type: 'deviceLost'; roomId: string; userId: string; kind: DeviceErrorKind; detail: string }
  /** Some media that a device or person in the room sends cannot be shown, played or recorded. */
  | { type: 'streamShort'; roomId: string; userId: string; shortcomings: readonly Shortcoming[] }
  /** The connection to the node was lost, or the node restarted without rooms. The pool polls at once. */
  | { type: 'restarted' }
  /**
   * These rooms or cameras were not in the state that the driver had set, and the driver corrects them. A subject may
   * be empty if it has no name. Rooms that `rooms` lists are compared by the pool instead.
   */
  | { type: 'drifted'; kind: DriftKind; subjects: readonly string[] }
  /** `program` has changed. */
  | { type: 'described' }

/** A device could not be added to a room. */
export class DeviceJoinError extends ExpectedError {
  readonly kind: DeviceErrorKind
  /** Protocol messages of the device for the user; empty if there are none. */
  readonly detail: string
  constructor(kind: DeviceErrorKind, message: string, options: ErrorOptions & { detail?: string } = {}) {
    super(message, options)
    this.name = 'DeviceJoinError'
    this.kind = kind
    this.detail = options.detail ?? ''
  }
}

/** The node rejected a request that does not concern a device. The message contains its reason, for the log. */
export class NodeError extends ExpectedError {
  override readonly name: string = 'NodeError'
}

/** The node is unreachable: the connection to it is lost. The pool polls at once. */
export class NodeConnectionError extends NodeError {
  override readonly name = 'NodeConnectionError'
}

/**
 * Returns whether the node rejected the request, and therefore did nothing. After any other error, the result is
 * unknown.
 */
export function isNodeRefusal(error: unknown): boolean {
  return error instanceof NodeError && !(error instanceof NodeConnectionError)
}

/**
 * The port through which the controller uses any MCU. Drivers: `simulated`, `embedded`, `janus`. A call whose signal
 * aborts rejects with the signal's reason. If the node rejects a request, the call rejects with NodeError or
 * DeviceJoinError. The pool adds deadlines and health checks; a driver only communicates.
 */
export interface MediaNode {
  /** Creates this room on the node, or changes it. Idempotent. */
  openRoom(room: NodeRoom, signal: AbortSignal): Promise<void>
  /**
   * Removes all users from a room and closes it. Does nothing if the node does not hold the room.
   * @param moves whether the room moves to another node, to which its people are sent
   */
  closeRoom(roomId: string, signal: AbortSignal, moves?: boolean): Promise<void>
  /**
   * Returns the users of a room, devices included, in the order they joined. Empty if the node does not hold the room.
   */
  users(roomId: string, signal: AbortSignal): Promise<NodeUser[]>
  /** Ends a user's connection. Resolves to false if no such user is in the room. */
  kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean>
  /**
   * Revokes the user's credentials for the room on this node, after the user was removed on another node and is not in
   * the room here. Left out: no credential of the node outlasts a participant session.
   */
  revoke?(roomId: string, userId: string, signal: AbortSignal): Promise<void>
  /**
   * Ends the participant session of a user who joined on another node of the room; the user may rejoin. Left out: rooms
   * of this node are never on several nodes.
   */
  displace?(roomId: string, userId: string, signal: AbortSignal): Promise<void>
  /**
   * Adds a device to a room. Resolves when the device's media flows in the room. If the call is aborted, the device is
   * removed again.
   * @param deadline end of the caller's wait. If the device is silent, the driver rejects shortly before the deadline.
   * @throws DeviceJoinError
   */
  addDevice(roomId: string, device: NodeDevice, deadline: Deadline): Promise<void>
  /** Removes a device from the room. Does nothing if the device is not in the room. */
  removeDevice(roomId: string, userId: string, signal: AbortSignal): Promise<void>
  /**
   * Replaces the recording order of a room. The node drops the order when it restarts or the room is closed. Left out:
   * the node cannot record.
   */
  setRecording?(order: RecordingOrder, signal: AbortSignal): Promise<void>
  /** Returns the rooms that the node holds now, for reconciliation. */
  rooms(signal: AbortSignal): Promise<string[]>
  health(signal: AbortSignal): Promise<NodeHealth>
  /** Facts that the program last reported. Left out: the node runs a program of this product. */
  readonly program?: NodeProgram | undefined
  /** Calls the listener with events in the order they happened. Returns the unsubscribe function. */
  onEvent(listener: (event: NodeEvent) => void): () => void
  /** Closes the driver. Rooms of an external node stay as they are. Idempotent. */
  close(): Promise<void>
}

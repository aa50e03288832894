import type { Deadline } from '../../../shared/deadline.ts'
import type { DeviceAddress, DeviceLogin } from '../../../shared/device-address.ts'
import type { DeviceErrorKind } from '../../../shared/device.ts'
import { ExpectedError } from '../../../shared/expected-error.ts'
import type { NodeRoom } from '../../../shared/media/node-room.ts'
import type { RecordingOrder } from '../../../shared/recordings/segment.ts'
import type { Shortcoming } from '../../../shared/media/transcoding.ts'
import type { DriftKind } from '../../../shared/domain/nodes.ts'

export type { NodeRoom }

/** Somebody in a room of a node. */
export interface NodeUser {
  userId: string
  userName: string
  /** An outgoing user rather than a person. */
  device: boolean
  role: 'host' | 'member'
  /** Came by the room's number alone; left out: by a link or the host password, or it is a device. */
  byNumber?: boolean | undefined
  /** Order of the raised hand: lower means earlier. 0, or left out: not raised. */
  hand?: number | undefined
  /** Milliseconds since the epoch; the same for as long as the user is in the room. */
  joinedAt: number
}

/** An outgoing user as a node must pull it. */
export interface NodeDevice {
  userId: string
  userName: string
  address: DeviceAddress
  /** A second, smaller stream; undefined when there is none. */
  assistAddress: DeviceAddress | undefined
  login: DeviceLogin | undefined
  /** Its outdated TLS is accepted. Left out: no. */
  oldTls?: boolean | undefined
}

/** Facts that a node's program reports about itself. */
export interface NodeProgram {
  /** E.g. `1.1.2`. */
  version: string
  plugins: readonly string[]
  /** It tells its events by itself. */
  tells: boolean
  /** Since when it does, or does not: milliseconds since the epoch. */
  eventsSince: number
}

/** Resources that a node's process has used since it started. */
export interface NodeLoad {
  /** Age of the process. */
  uptime_ms: number
  /** CPU time of its threads, without other processes such as ffmpeg. */
  cpu_ms: number
  /** Resident memory in bytes. */
  memory: number
  /** Bytes of media received from cameras and people, and sent to people. */
  bytes_in: number
  bytes_out: number
  /** Media that full queues of the process left out, by queue: packets for viewers, frames for ffmpeg. */
  dropped: { viewers: number; conversion: number }
}

/** Answer of a node to a health poll. */
export interface NodeHealth {
  rooms: number
  users: number
  /** Different cameras that are pulled, however many rooms they are in. */
  pulls: number
  /** Left out: the node reports none, as Janus servers do. */
  load?: NodeLoad | undefined
}

/** Events of a node. A driver reports every joining and leaving before the call of the controller that caused it resolves (kick, closeRoom, addDevice, removeDevice). */
export type NodeEvent =
  /** Somebody is in: a person, or a device whose media flows. */
  | { type: 'joined'; roomId: string; user: NodeUser }
  | { type: 'left'; roomId: string; userId: string }
  /** A device that was in the room dropped: its user has left, `kind` says why. */
  | { type: 'deviceLost'; roomId: string; userId: string; kind: DeviceErrorKind; detail: string }
  /** Not everything that a device or person in the room sends is shown, heard and recorded. */
  | { type: 'streamShort'; roomId: string; userId: string; shortcomings: readonly Shortcoming[] }
  /** The connection to the node is gone, or the node came back empty: the pool polls at once. */
  | { type: 'restarted' }
  /** These rooms or cameras (some may have no name) were not in the state that the driver had given them; the driver corrects them. The pool compares rooms that the port lists. */
  | { type: 'drifted'; kind: DriftKind; subjects: readonly string[] }
  /** The program reports other facts about itself than before. */
  | { type: 'described' }

/** A device could not be taken into a room, with the reason. */
export class DeviceJoinError extends ExpectedError {
  readonly kind: DeviceErrorKind
  /** What the device answered to what, for people; empty: nothing more is known. */
  readonly detail: string
  constructor(kind: DeviceErrorKind, message: string, options: ErrorOptions & { detail?: string } = {}) {
    super(message, options)
    this.name = 'DeviceJoinError'
    this.kind = kind
    this.detail = options.detail ?? ''
  }
}

/** The node says no to something else than a device: its own words are for the log. */
export class NodeError extends ExpectedError {
  override readonly name: string = 'NodeError'
}

/** The node could not be asked at all: the connection to it is gone. The pool polls at once. */
export class NodeConnectionError extends NodeError {
  override readonly name = 'NodeConnectionError'
}

/** The node said no: it did nothing. Without its word nobody knows. */
export function isRefusal(error: unknown): boolean {
  return error instanceof NodeError && !(error instanceof NodeConnectionError)
}

/**
 * The port through which the controller reaches any MCU. Drivers: `simulated`, `embedded`, `janus`. Every call ends when its signal aborts (rejecting with the signal's reason),
 * and rejects with NodeError (or DeviceJoinError) when the node says no. The pool adds deadlines and health; a driver only talks.
 */
export interface MediaNode {
  /** The node holds this room from now on, or changes it; idempotent. */
  openRoom(room: NodeRoom, signal: AbortSignal): Promise<void>
  /**
   * Removes everybody from a room and closes it; a room that the node does not hold is no error.
   * @param moves the room moves to another node: its people are told to follow
   */
  closeRoom(roomId: string, signal: AbortSignal, moves?: boolean): Promise<void>
  /** Users of a room, outgoing users included, in the order they joined. Empty for a room that the node does not hold. */
  users(roomId: string, signal: AbortSignal): Promise<NodeUser[]>
  /** The user's connection has ended. Resolves to false when no such user is in the room. */
  kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean>
  /**
   * Voids what lets a user into the room here, after a removal on another node; the user is not in the room here. Left out: nothing that the node gives out outlasts a participant
   * session.
   */
  revoke?(roomId: string, userId: string, signal: AbortSignal): Promise<void>
  /** Ends the participant session of a user who joined on another node of the room; they may come back. Left out: the node's rooms are on no other node. */
  displace?(roomId: string, userId: string, signal: AbortSignal): Promise<void>
  /**
   * Resolves when the device's media flows in the room; when it is aborted, it leaves nothing behind.
   * @param deadline when the caller gives up: a driver that knows by then that the device is silent says so shortly before
   * @throws DeviceJoinError
   */
  addDevice(roomId: string, device: NodeDevice, deadline: Deadline): Promise<void>
  /** The device is out of the room; one that is not there is no error. */
  removeDevice(roomId: string, userId: string, signal: AbortSignal): Promise<void>
  /** Replaces what is recorded of a room; the node forgets it when it restarts or the room is closed there. Left out: the node cannot record. */
  setRecording?(order: RecordingOrder, signal: AbortSignal): Promise<void>
  /** Rooms the node holds now: what to reconcile. */
  rooms(signal: AbortSignal): Promise<string[]>
  health(signal: AbortSignal): Promise<NodeHealth>
  /** Facts about the program as far as it reported them; left out: it is ours. */
  readonly program?: NodeProgram | undefined
  /** Events arrive in the order they happened. Returns the unsubscribe function. */
  onEvent(listener: (event: NodeEvent) => void): () => void
  /** Ends the driver; rooms of an external node stay as they are. Idempotent. */
  close(): Promise<void>
}

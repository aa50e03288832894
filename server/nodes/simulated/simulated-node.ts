import type { Deadline } from '../../../shared/deadline.ts'
import { isFull } from '../../../shared/room-cap.ts'
import { type Refusal, type RefusalName, refusal } from '../../../shared/refusals/refusal.ts'
import { sameSecret } from '../../edge/same-secret.ts'
import { type DeviceErrorKind, deviceErrorMessages } from '../../../shared/device.ts'
import {
  DeviceJoinError,
  type MediaNode,
  type NodeDevice,
  type NodeEvent,
  type NodeHealth,
  type NodeRoom,
  type NodeUser,
  NodeConnectionError,
  NodeError,
} from '../port/media-node-port.ts'
import { type DeviceFaultRule, type NodeFault, FaultyConnection, untilAborted } from './simulated-faults.ts'
import { cameraKey, type CameraSource } from '../../../shared/device-address.ts'

/** Parameters of a simulated person for `joinPerson`. */
export interface SimulatedPerson {
  userId: string
  userName: string
  /** Password that makes the person host, if it equals the room's host password. */
  hostPassword?: string
}

export type JoinRefusal = 'noRoom' | 'full' | 'locked' | 'duplicate' | 'unreachable'

const refusalNames = {
  noRoom: 'labRoomNotOpen',
  full: 'labRoomFull',
  locked: 'labRoomLocked',
  duplicate: 'labUserExists',
  unreachable: 'labNodeUnreachable',
} as const satisfies Record<JoinRefusal, RefusalName>

export class JoinRefusedError extends Error {
  readonly reason: JoinRefusal
  readonly refusal: Refusal
  constructor(reason: JoinRefusal) {
    const refused = refusal(refusalNames[reason])
    super(refused.message)
    this.refusal = refused
    this.name = 'JoinRefusedError'
    this.reason = reason
  }
}

/** A participant of a simulated room. `camera` identifies the camera that a device pulls. */
interface Attendee {
  user: NodeUser
  camera: string | undefined
}

interface SimulatedRoom {
  config: NodeRoom
  attendees: Map<string, Attendee>
}

export interface SimulatedNodeOptions {
  /** Returns milliseconds since the epoch. */
  clock?: () => number
}

/**
 * A lab node in this process. It stores people and devices in memory, applies the limits of rooms, and can simulate
 * faults. It has no media. Its users join through `joinPerson`, not through a browser.
 */
export class SimulatedNode implements MediaNode {
  readonly #clock: () => number
  readonly #rooms = new Map<string, SimulatedRoom>()
  readonly #pulls = new PullCount()
  readonly #listeners = new Set<(event: NodeEvent) => void>()
  readonly #connection = new FaultyConnection()
  #deviceFaults: readonly DeviceFaultRule[] = []
  #users = 0
  #closed = false

  constructor(options: SimulatedNodeOptions = {}) {
    this.#clock = options.clock ?? Date.now
  }

  /**
   * Sets the fault of the node. Going offline removes all users without events, as a crashed server does. Afterwards
   * the node has no rooms.
   */
  setFault(fault: NodeFault): void {
    const before = this.#connection.fault.mode
    this.#connection.set(fault)
    if (fault.mode === 'offline' && before !== 'offline') {
      this.#forgetEverything()
      this.#emit({ type: 'restarted' })
    } else if (fault.mode !== 'offline' && before === 'offline') {
      this.#emit({ type: 'restarted' })
    }
  }

  get fault(): NodeFault {
    return this.#connection.fault
  }

  /** Sets the faults of devices, replacing earlier rules. The first matching rule applies. */
  setDeviceFaults(rules: readonly DeviceFaultRule[]): void {
    this.#deviceFaults = rules
  }

  get deviceFaults(): readonly DeviceFaultRule[] {
    return this.#deviceFaults
  }

  /** Simulates the failure of a device in a room. Returns false if no such device is in the room. */
  loseDevice(roomId: string, userId: string, kind: DeviceErrorKind): boolean {
    const room = this.#rooms.get(roomId)
    if (room?.attendees.get(userId)?.camera === undefined) return false
    this.#remove(room, userId, { type: 'deviceLost', roomId, userId, kind, detail: 'simulated' })
    return true
  }

  /**
   * Adds a simulated person.
   * @throws JoinRefusedError if the room does not exist, is full, is locked or contains the userId, or if the node
   * fails
   */
  joinPerson(roomId: string, person: SimulatedPerson): NodeUser {
    const { mode } = this.#connection.fault
    if (this.#closed || mode === 'offline' || mode === 'failing' || mode === 'silent') {
      throw new JoinRefusedError('unreachable')
    }
    const room = this.#rooms.get(roomId)
    if (room === undefined) throw new JoinRefusedError('noRoom')
    if (room.attendees.has(person.userId)) {
      throw new JoinRefusedError('duplicate')
    }
    if (room.config.locked) throw new JoinRefusedError('locked')
    if (isFull(room.attendees.size, room.config)) throw new JoinRefusedError('full')
    const user: NodeUser = {
      userId: person.userId,
      userName: person.userName,
      device: false,
      role: isHost(room.config.hostPassword, person.hostPassword) ? 'host' : 'member',
      joinedAt: this.#clock(),
    }
    this.#add(room, { user, camera: undefined })
    return user
  }

  /** Removes a simulated person. Returns false if no such person is in the room. */
  leavePerson(roomId: string, userId: string): boolean {
    const room = this.#rooms.get(roomId)
    const attendee = room?.attendees.get(userId)
    if (room === undefined || attendee === undefined || attendee.user.device) return false
    this.#remove(room, userId)
    return true
  }

  async openRoom(config: NodeRoom, signal: AbortSignal): Promise<void> {
    await this.#pass(signal)
    const room = this.#rooms.get(config.roomId)
    if (room === undefined) this.#rooms.set(config.roomId, { config, attendees: new Map() })
    else room.config = config
  }

  async closeRoom(roomId: string, signal: AbortSignal): Promise<void> {
    await this.#pass(signal)
    const room = this.#rooms.get(roomId)
    if (room === undefined) return
    for (const userId of [...room.attendees.keys()]) this.#remove(room, userId)
    this.#rooms.delete(roomId)
  }

  async users(roomId: string, signal: AbortSignal): Promise<NodeUser[]> {
    await this.#pass(signal)
    return Array.from(this.#rooms.get(roomId)?.attendees.values() ?? [], (attendee) => attendee.user)
  }

  async kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    await this.#pass(signal)
    const room = this.#rooms.get(roomId)
    if (!room?.attendees.has(userId)) return false
    this.#remove(room, userId)
    return true
  }

  async addDevice(roomId: string, device: NodeDevice, { signal }: Deadline): Promise<void> {
    await this.#pass(signal)
    const rule = this.#deviceFaults.find(({ match }) => device.address.address.includes(match))
    if (rule?.kind === 'silent') await untilAborted(signal)
    else if (rule !== undefined) throw new DeviceJoinError(rule.kind, deviceErrorMessages[rule.kind])
    const room = this.#rooms.get(roomId)
    if (room === undefined) throw new DeviceJoinError('nodeFailed', 'The room is not open on this node.')
    const present = room.attendees.get(device.userId)
    if (present?.user.device === false)
      throw new DeviceJoinError('nodeFailed', 'A person with this userId is in the room.')
    if (present === undefined && room.config.locked)
      throw new DeviceJoinError('roomLocked', deviceErrorMessages.roomLocked)
    if (present === undefined && isFull(room.attendees.size, room.config))
      throw new DeviceJoinError('roomFull', deviceErrorMessages.roomFull)
    const camera = this.#pulls.take(device)
    if (present?.camera === camera) {
      this.#pulls.release(camera)
      return
    }
    if (present !== undefined) this.#remove(room, device.userId)
    const user: NodeUser = {
      userId: device.userId,
      userName: device.userName,
      device: true,
      role: 'member',
      joinedAt: this.#clock(),
    }
    this.#add(room, { user, camera })
  }

  async removeDevice(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    await this.#pass(signal)
    const room = this.#rooms.get(roomId)
    if (room?.attendees.get(userId)?.user.device) this.#remove(room, userId)
  }

  async rooms(signal: AbortSignal): Promise<string[]> {
    await this.#pass(signal)
    return [...this.#rooms.keys()]
  }

  async health(signal: AbortSignal): Promise<NodeHealth> {
    await this.#pass(signal)
    return { rooms: this.#rooms.size, users: this.#users, pulls: this.#pulls.size }
  }

  onEvent(listener: (event: NodeEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#connection.cut()
    this.#listeners.clear()
    this.#forgetEverything()
  }

  async #pass(signal: AbortSignal): Promise<void> {
    if (this.#closed) throw new NodeConnectionError('the simulated node was closed')
    await this.#connection.pass(signal)
    if (this.#closed) throw new NodeError('the simulated node was closed')
  }

  #forgetEverything(): void {
    this.#connection.cut()
    this.#rooms.clear()
    this.#pulls.clear()
    this.#users = 0
  }

  #add(room: SimulatedRoom, attendee: Attendee): void {
    room.attendees.set(attendee.user.userId, attendee)
    this.#users += 1
    this.#emit({ type: 'joined', roomId: room.config.roomId, user: attendee.user })
  }

  #remove(room: SimulatedRoom, userId: string, event?: NodeEvent): void {
    const attendee = room.attendees.get(userId)
    if (attendee === undefined) return
    room.attendees.delete(userId)
    this.#users -= 1
    if (attendee.camera !== undefined) this.#pulls.release(attendee.camera)
    this.#emit(event ?? { type: 'left', roomId: room.config.roomId, userId })
  }

  #emit(event: NodeEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

/** With an empty host password, no one becomes host. */
function isHost(expected: string, given: string | undefined): boolean {
  if (expected === '' || given === undefined) return false
  return sameSecret(expected, given)
}

/** Counts the uses of each camera. A camera in several rooms is pulled once (contract, section 4). */
class PullCount {
  readonly #uses = new Map<string, number>()

  /** Number of cameras that are pulled now. */
  get size(): number {
    return this.#uses.size
  }

  /** Adds a use of the camera. Returns the key for `release`. */
  take(source: CameraSource): string {
    const camera = cameraKey(source)
    this.#uses.set(camera, (this.#uses.get(camera) ?? 0) + 1)
    return camera
  }

  release(camera: string): void {
    const uses = (this.#uses.get(camera) ?? 0) - 1
    if (uses > 0) this.#uses.set(camera, uses)
    else this.#uses.delete(camera)
  }

  clear(): void {
    this.#uses.clear()
  }
}

import { isFull, isOverfull } from '../../../../shared/room-cap.ts'
import { deviceErrorMessages } from '../../../../shared/device.ts'
import { DeviceJoinError, type NodeDevice, NodeError, type NodeRoom } from '../../port/media-node-port.ts'
import type { TokenAdmission } from './token-admission.ts'
import type { RemovalsPort } from '../../port/removals-port.ts'
import type { JanusParticipants } from './participants.ts'
import { isScreen } from '../people/room-feeds.ts'
import type { RelayParticipants } from '../relay/relay-participants.ts'
import type { RoomDevices } from './room-devices.ts'
import type { JanusRooms } from './janus-rooms.ts'
import { readRoomToken } from './signed-token.ts'

/** A person's wish for a token. */
export interface AdmissionWish {
  roomId: string
  userId: string
  role: 'host' | 'member'
  /** Unix seconds. */
  expiresAt: number
}

/** Fields of the join of who was let in: what the room is called on the node, and the token where one is asked for. */
export type JoinFields = Readonly<{ room: string; token?: string }>

/** Needs of admission. */
export interface RoomAdmissionOptions {
  rooms: Pick<JanusRooms, 'nameOf'>
  /** The room as the node holds it; undefined when it does not, or has not got its record yet. */
  room: (roomId: string) => NodeRoom | undefined
  admission: TokenAdmission
  participants: JanusParticipants
  devices: () => Pick<RoomDevices, 'holds' | 'usersOf'>
  relays: Pick<RelayParticipants, 'has'>
  /** How many are in the room on other nodes, leaving out this user. */
  onOtherNodes: (roomId: string, userId: string) => number
  removals: Pick<RemovalsPort, 'refuses'>
  /** Whether the participant with this id has proven it, or the one about to replace them has. */
  isProven: (roomId: string, userId: string) => boolean
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** Admission to the rooms of one node: for users who are wanted, fit in, and were not removed lately. */
export class RoomAdmission {
  readonly #options: RoomAdmissionOptions
  /** Devices by room that were in it and are still wanted. A locked room lets them back in. */
  readonly #known = new Map<string, Set<string>>()

  constructor(options: RoomAdmissionOptions) {
    this.#options = options
  }

  /** People and devices in a room, on this node. */
  countOf(roomId: string): number {
    const { participants, devices } = this.#options
    return participants.count(roomId) + devices().usersOf(roomId).length
  }

  /** More are in the room than it takes, on all its nodes, now that this user is. */
  isOverfull(roomId: string, userId: string): boolean {
    const room = this.#options.room(roomId)
    return room !== undefined && isOverfull(this.#countWith(roomId, userId), room)
  }

  /** Whether a user who joined may stay: nobody takes a foreign id, and a removed user stays out for a while. */
  mayBe(roomId: string, userId: string, token: string | undefined): boolean {
    if (this.#options.devices().holds(roomId, userId)) return true
    if (this.isBanned(roomId, userId)) return false
    return token === undefined || readRoomToken(token)?.userId === userId
  }

  /** Whether a present user was removed lately, and may not be back yet. */
  isBanned(roomId: string, userId: string): boolean {
    const { removals, isProven } = this.#options
    return removals.refuses({ roomId, userId, proven: isProven(roomId, userId) })
  }

  /**
   * Admits a user, and returns the token to join with; it is empty if rooms are open to everybody.
   * @throws NodeError with the obstacle: the room is not here or full, the user was removed lately, or the room is locked (checked with the token)
   */
  async admit(wish: AdmissionWish, signal: AbortSignal): Promise<string> {
    this.#assertMayCome(wish)
    return await this.#options.admission.admit(wish, signal)
  }

  #assertMayCome({ roomId, userId }: Pick<AdmissionWish, 'roomId' | 'userId'>): void {
    const { participants, relays, removals } = this.#options
    const room = this.#options.room(roomId)
    if (room === undefined) throw new NodeError('The room is not open on its node yet: try again.')
    if (relays.has(userId)) throw new NodeError('This user id is kept for relays between nodes: choose another one.')
    // The page or the token has proven the id.
    if (removals.refuses({ roomId, userId, proven: true }))
      throw new NodeError('They were removed from the room a moment ago.')
    const isThere = participants.user(roomId, userId) !== undefined
    if (!isThere && isFull(this.#countWith(roomId, userId), room)) throw new NodeError('The room is full.')
  }

  /**
   * Fields of the join of a user of the room page, or of their screen. The page has admitted them already, and into a locked room those who were in it.
   * @throws as `admit`, but for the lock
   */
  async admitThroughPage(
    { roomId, userId, role }: Omit<AdmissionWish, 'expiresAt'>,
    signal: AbortSignal,
  ): Promise<JoinFields> {
    const wish = { roomId, userId, role, expiresAt: this.#farAway() }
    // A screen is nobody: whose it is has been let in.
    if (!isScreen(userId)) this.#assertMayCome(wish)
    const token = await this.#options.admission.admitKnown(wish, signal)
    return this.#fields(roomId, token)
  }

  /** See RoomsForDevices.admit. */
  async admitDevice(roomId: string, { userId }: Pick<NodeDevice, 'userId'>, signal: AbortSignal): Promise<JoinFields> {
    const { participants, admission } = this.#options
    const room = this.#options.room(roomId)
    if (room === undefined) throw notOpen()
    if (participants.user(roomId, userId) !== undefined)
      throw new DeviceJoinError('nodeFailed', 'A person with this userId is in the room.')
    const wasThere = this.#known.get(roomId)?.has(userId) === true
    if (room.locked && !wasThere) throw new DeviceJoinError('roomLocked', deviceErrorMessages.roomLocked)
    if (isFull(this.#countWith(roomId, userId), room))
      throw new DeviceJoinError('roomFull', deviceErrorMessages.roomFull)
    const token = await admission.admit({ roomId, userId, role: 'device', expiresAt: this.#farAway() }, signal)
    return this.#fields(roomId, token)
  }

  /** A device is in the room. */
  deviceJoined(roomId: string, userId: string): void {
    const known = this.#known.get(roomId) ?? new Set<string>()
    this.#known.set(roomId, known.add(userId))
  }

  /** A device is no longer wanted in the room. */
  forgetDevice(roomId: string, userId: string): void {
    this.#known.get(roomId)?.delete(userId)
  }

  /** The room is gone for good. */
  forget(roomId: string): void {
    this.#options.admission.forget(roomId)
    this.#known.delete(roomId)
  }

  /** Users of the room on all its nodes; one who comes from another node counts here only. */
  #countWith(roomId: string, userId: string): number {
    return this.countOf(roomId) + this.#options.onOtherNodes(roomId, userId)
  }

  #fields(roomId: string, token: string): JoinFields {
    return { room: this.#options.rooms.nameOf(roomId), ...(token === '' ? {} : { token }) }
  }

  /** Unix seconds: who comes by the controller stays for as long as they are wanted; their token is taken back, it does not end. */
  #farAway(): number {
    return Math.floor(this.#options.clock() / 1_000) + 10 * 365 * 24 * 3_600
  }
}

/** A device is wanted in a room that the node does not hold. */
export function notOpen(): DeviceJoinError {
  return new DeviceJoinError('nodeFailed', 'The room is not open on this node.')
}

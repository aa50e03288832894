import { isFull, isOverfull } from '../../../../shared/room-cap.ts'
import { deviceErrorMessages } from '../../../../shared/device.ts'
import { tokenKinds } from '../../../../shared/tokens.ts'
import { unverifiedClaims } from '../../../../shared/files/signed-tokens.ts'
import {
  DeviceJoinError,
  type NodeDevice,
  NodeError,
  type NodeRoom,
  type NodeUser,
} from '../../port/media-node-port.ts'
import type { TokenAdmission } from './token-admission.ts'
import type { RemovalsPort } from '../../port/removals-port.ts'
import type { JanusParticipants } from './participants.ts'
import { isScreen } from '../people/room-feeds.ts'
import type { RelayParticipants } from '../relay/relay-participants.ts'
import type { JanusRoomDevices } from './room-devices.ts'
import type { JanusRooms } from './janus-rooms.ts'
import type { NodeTraits } from '../wire/node-traits.ts'

/** A person's request for a token. */
export interface AdmissionRequest {
  roomId: string
  userId: string
  role: 'host' | 'member'
  /** Expiry of the token, in Unix seconds. */
  expiresAt: number
}

/**
 * Fields of the join request of an admitted user: the name of the room on the node, and the token if one is required.
 */
export type JoinFields = Readonly<{ room: string; token?: string }>

/** Users who entered through the room page. */
export interface Visitors {
  /** Returns a user who is in the room, or is entering it; undefined for other users. */
  personOf(roomId: string, userId: string): Pick<NodeUser, 'role' | 'byNumber' | 'hand'> | undefined
  /** Returns whether the user has joined by now. */
  isHere(roomId: string, userId: string): boolean
}

export interface RoomAdmissionOptions {
  rooms: Pick<JanusRooms, 'nameOf'>
  /** Returns the room as the node holds it; undefined if the node does not hold it, or its record is not loaded yet. */
  room: (roomId: string) => NodeRoom | undefined
  admission: TokenAdmission
  participants: JanusParticipants
  devices: () => Pick<JanusRoomDevices, 'holds' | 'usersOf'>
  relays: Pick<RelayParticipants, 'has'>
  /** Returns the number of users in the room on other nodes, excluding this user. */
  onOtherNodes: (roomId: string, userId: string) => number
  removals: Pick<RemovalsPort, 'refuses'>
  traits: Pick<NodeTraits, 'current'>
  visitors: Pick<Visitors, 'personOf'>
  /** Returns milliseconds since the epoch. */
  clock: () => number
}

/**
 * Admission to the rooms of one node. Checks that the room exists and has space, and that the user was not removed
 * recently.
 */
export class RoomAdmission {
  readonly #options: RoomAdmissionOptions
  /** Devices that joined and are still assigned to their room, by room. A locked room admits them again. */
  readonly #known = new Map<string, Set<string>>()

  constructor(options: RoomAdmissionOptions) {
    this.#options = options
  }

  /** Returns the number of people and devices in a room on this node. */
  countOf(roomId: string): number {
    const { participants, devices } = this.#options
    return participants.count(roomId) + devices().usersOf(roomId).length
  }

  /** Returns whether the room has more users than its limit, on all of its nodes, including this user. */
  isOverfull(roomId: string, userId: string): boolean {
    const room = this.#options.room(roomId)
    return room !== undefined && isOverfull(this.#countWith(roomId, userId), room)
  }

  /**
   * Returns whether a user who joined may stay: the token must have been issued to this user, and the user must not
   * have been removed recently.
   */
  mayBe(roomId: string, userId: string, token: string | undefined): boolean {
    if (this.#options.devices().holds(roomId, userId)) return true
    if (this.isBanned(roomId, userId)) return false
    return token === undefined || unverifiedClaims('janus-room', token)?.userId === userId
  }

  /** Returns whether a user in the room was removed recently, and may not return yet. */
  isBanned(roomId: string, userId: string): boolean {
    const { removals, traits, visitors } = this.#options
    // The node or the page verifies the id of a participant, or of the person who is about to replace the participant.
    const proven = traits.current.guarded || visitors.personOf(roomId, userId) !== undefined
    return removals.refuses({ roomId, userId, proven })
  }

  /**
   * Admits a user, and returns the token to join with; empty if rooms require none.
   * @throws NodeError with the reason: the room is not open, full or locked, or the user was removed recently
   */
  async admit(request: AdmissionRequest, signal: AbortSignal): Promise<string> {
    this.#assertMayCome(request)
    return await this.#options.admission.admit(request, signal)
  }

  #assertMayCome({ roomId, userId }: Pick<AdmissionRequest, 'roomId' | 'userId'>): void {
    const { participants, relays, removals } = this.#options
    const room = this.#options.room(roomId)
    if (room === undefined) throw new NodeError('The room is not open on its node yet: try again.')
    if (relays.has(userId)) throw new NodeError('This user id is kept for relays between nodes: choose another one.')
    // The id was verified by the page or the token.
    if (removals.refuses({ roomId, userId, proven: true }))
      throw new NodeError('They were removed from the room a moment ago.')
    const isThere = participants.user(roomId, userId) !== undefined
    if (!isThere && isFull(this.#countWith(roomId, userId), room)) throw new NodeError('The room is full.')
  }

  /**
   * Returns the fields of the join request of a user of the room page, or of their screen. The page has already checked
   * admission. To a locked room, it admits only users who were in the room before.
   * @throws the errors of `admit`, except for locked rooms
   */
  async admitThroughPage(
    { roomId, userId, role }: Omit<AdmissionRequest, 'expiresAt'>,
    signal: AbortSignal,
  ): Promise<JoinFields> {
    const request = { roomId, userId, role, expiresAt: this.#standingEnd() }
    // A screen is not counted as a user; its owner was admitted.
    if (!isScreen(userId)) this.#assertMayCome(request)
    const token = await this.#options.admission.admitKnown(request, signal)
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
    const token = await admission.admit({ roomId, userId, role: 'device', expiresAt: this.#standingEnd() }, signal)
    return this.#fields(roomId, token)
  }

  /** Records that a device joined the room. */
  deviceJoined(roomId: string, userId: string): void {
    const known = this.#known.get(roomId) ?? new Set<string>()
    this.#known.set(roomId, known.add(userId))
  }

  /** Records that a device is no longer assigned to the room. */
  forgetDevice(roomId: string, userId: string): void {
    this.#known.get(roomId)?.delete(userId)
  }

  /** Drops all data of a deleted room. */
  forget(roomId: string): void {
    this.#options.admission.forget(roomId)
    this.#known.delete(roomId)
  }

  /** Returns the number of users of the room on all nodes. On other nodes, `userId` is not counted. */
  #countWith(roomId: string, userId: string): number {
    return this.countOf(roomId) + this.#options.onOtherNodes(roomId, userId)
  }

  #fields(roomId: string, token: string): JoinFields {
    return { room: this.#options.rooms.nameOf(roomId), ...(token === '' ? {} : { token }) }
  }

  /**
   * Returns the expiry of tokens of page users and devices, in Unix seconds. The expiry is ten years away, because
   * these tokens are revoked when they are no longer needed.
   */
  #standingEnd(): number {
    return Math.floor((this.#options.clock() + tokenKinds['janus-room'].lifetime.standingMs) / 1_000)
  }
}

/** Creates the error for a device whose room the node does not hold. */
export function notOpen(): DeviceJoinError {
  return new DeviceJoinError('nodeFailed', 'The room is not open on this node.')
}

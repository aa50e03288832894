import type { Doer, OutgoingId } from '../../../shared/media/control.ts'
import type { ControllerEnd } from '../../../shared/media/controller-methods.ts'
import { RemovalTable } from '../../../shared/media/removal-table.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import type { CameraPulls } from '../feeds/camera-pulls.ts'
import { Problem } from '../base/problem.ts'
import type { MemberSessions } from './attendance.ts'
import { DeviceJoins } from './device-joins.ts'
import type { RoomMember } from './member.ts'
import { Room, type RoomOwner } from './room.ts'
import type { RoomConfig } from './room-config.ts'
import { SessionIndex } from './session-key.ts'

/** A member and the room they are in. */
export interface Place {
  room: Room
  member: RoomMember
}

/** Rooms that are open on this node. */
export class MediaRooms implements RoomOwner {
  readonly #rooms = new Map<string, Room>()
  readonly controller: Pick<ControllerEnd, 'notify'>
  readonly #log: MediaLog
  readonly devices: DeviceJoins
  readonly sessions: MemberSessions = new SessionIndex()
  /** Users who were removed from rooms, on this node or another. */
  readonly removals = new RemovalTable()
  /** Room of each device, by user id. */
  readonly #outgoing = new Map<string, string>()
  /**
   * Called after the streams of a room changed. Assignable, because the recorder that sets the callback needs the rooms
   * first.
   */
  streamsChanged: (roomId: string) => void = () => {}
  /** Period in which a removed user is refused, in milliseconds. */
  banMs: number

  constructor(pulls: CameraPulls, banMs: number, controller: Pick<ControllerEnd, 'notify'>, log: MediaLog) {
    this.banMs = banMs
    this.controller = controller
    this.#log = log
    this.devices = new DeviceJoins(pulls, this, controller)
  }

  get ids(): string[] {
    return [...this.#rooms.keys()]
  }

  /** Ids of the rooms whose media is on this node. */
  get ownIds(): string[] {
    return this.ids.filter((roomId) => this.find(roomId)?.config.isRemote !== true)
  }

  /** Number of members in all rooms whose media is on this node, including devices. */
  get userCount(): number {
    let count = 0
    for (const { config, members } of this.#rooms.values()) if (!config.isRemote) count += members.size
    return count
  }

  /** Stores the room of a device; with an empty room id, removes the deleted device. */
  noteOutgoing({ userId, roomId }: OutgoingId): void {
    if (roomId === '') this.#outgoing.delete(userId)
    else this.#outgoing.set(userId, roomId)
  }

  isOutgoing(roomId: string, userId: string): boolean {
    return this.#outgoing.get(userId) === roomId
  }

  all(): Iterable<Room> {
    return this.#rooms.values()
  }

  find(roomId: string): Room | undefined {
    return this.#rooms.get(roomId)
  }

  /**
   * Finds a room with remote media. Reports of a remote node may arrive after the room became local; they must not be
   * applied to it.
   */
  findRemote(roomId: string): Room | undefined {
    const room = this.#rooms.get(roomId)
    return room?.config.isRemote ? room : undefined
  }

  /** @throws Problem noRoom */
  get(roomId: string): Room {
    const room = this.#rooms.get(roomId)
    if (room === undefined) throw new Problem('noRoom')
    return room
  }

  /**
   * Opens a room, or changes its configuration. If its media moves between this node and another node, the room
   * restarts and its members join again.
   */
  open(config: RoomConfig): void {
    const { isRemote } = config
    this.close(config.roomId, 'restarting', !isRemote)
    const room = this.#rooms.get(config.roomId)
    if (room === undefined) this.#rooms.set(config.roomId, new Room(config, this))
    else room.configure(config)
  }

  /**
   * Replaces a room after an unexpected error. All members are removed and may join again. The controller does not have
   * to open the room again.
   */
  replaceFailed(room: Room, error: unknown): void {
    this.#log.error('a room failed and restarts', wholeText(error))
    const { config } = room
    if (this.#rooms.get(config.roomId) !== room) return
    this.#rooms.set(config.roomId, new Room(config, this))
    this.devices.endAll(config.roomId)
    room.close('restarting')
  }

  /**
   * Closes a room.
   * @param isRemote closes the room only if its media is on another node (true) or on this node (false); omitted: in
   *   both cases
   */
  close(roomId: string, reason: 'closed' | 'restarting', isRemote?: boolean): void {
    const room = this.#rooms.get(roomId)
    if (room === undefined || (isRemote !== undefined && room.config.isRemote !== isRemote)) return
    this.#rooms.delete(roomId)
    this.devices.endAll(roomId)
    room.close(reason)
  }

  /**
   * Removes a member, and refuses the member and their link for `banMs`. If a remote member's id is not proven, the
   * removal is only reported to the controller.
   * @param by the host who removes the member; omitted: the controller
   * @returns false if the user is not in the room
   */
  kick(roomId: string, userId: string, by?: Doer): boolean {
    const room = this.#rooms.get(roomId)
    const member = room?.members.get(userId)
    if (room === undefined || member === undefined) return false
    if (member.remote?.proven === false) this.#reportRemoval(roomId, member, by)
    else if (!member.user.device) this.#ban(roomId, member, by)
    return room.attendance.remove(userId, 'kicked')
  }

  /**
   * Mutes a person who joined through this process.
   * @param by id of a host who joined on another node; empty: the operator
   * @returns false if no such person joined here
   */
  mute(roomId: string, userId: string, kind: 'audio' | 'video', by: string): boolean {
    const room = this.#rooms.get(roomId)
    const member = room?.members.get(userId)
    if (room === undefined || member === undefined || member.remote !== undefined || member.user.device) return false
    room.silence(member, kind, by)
    return true
  }

  /** Finds the member with a session key. The key resumes signalling and authorizes WHIP and WHEP. */
  bySession(session: string): Place | undefined {
    const { roomId = '', member } = this.sessions.get(session) ?? {}
    const room = this.#rooms.get(roomId)
    return room !== undefined && member !== undefined && room.members.has(member) ? { room, member } : undefined
  }

  /** Closes all rooms when the node stops. Members join again when this node or another node is available. */
  closeAll(): void {
    for (const roomId of this.ids) this.close(roomId, 'restarting')
  }

  #ban(
    roomId: string,
    { user: { userId, userName }, entry: { tokenId = '' } }: RoomMember,
    by: Doer | undefined,
  ): void {
    const at = Date.now()
    const removal = { roomId, userId, tokenId, at, until: at + this.banMs }
    this.removals.add(removal)
    this.controller.notify('removed', { ...removal, userName, by })
  }

  #reportRemoval(roomId: string, { user: { userId, userName } }: RoomMember, by: Doer | undefined): void {
    if (by !== undefined)
      this.controller.notify('hostActed', { roomId, act: 'removed', by, who: { userId, userName }, count: 1 })
  }
}

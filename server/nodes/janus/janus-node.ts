import type { Deadline } from '../../../shared/deadline.ts'
import { within } from '../port/deadline.ts'
import {
  type MediaNode,
  NodeConnectionError,
  type NodeDevice,
  NodeError,
  type NodeEvent,
  type NodeHealth,
  type NodeProgram,
  type NodeRoom,
  type NodeUser,
} from '../port/media-node-port.ts'
import type { RemovalsPort } from '../port/removals-port.ts'
import { describeFailure, type NodeLogger } from '../port/node-failure.ts'
import { TokenAdmission } from './rooms/token-admission.ts'
import { type AdmissionRequest, RoomAdmission, type JoinFields, notOpen } from './rooms/room-admission.ts'
import type { JanusEvent } from './events/event-message.ts'
import type { ExpelSessions } from './rooms/expel-sessions.ts'
import { HeldRooms } from './rooms/held-rooms.ts'
import { JanusParticipants } from './rooms/participants.ts'
import { isScreen } from './people/room-feeds.ts'
import type { NodeTraits } from './wire/node-traits.ts'
import type { RelayIds } from './relay/relay-ids.ts'
import type { RelayParticipant } from './relay/relay-ends.ts'
import { RelayParticipants } from './relay/relay-participants.ts'
import { JanusRemoval } from './rooms/removal.ts'
import type { JanusRoomDevices, RoomsForDevices } from './rooms/room-devices.ts'
import type { JanusRooms, ListedRoom } from './rooms/janus-rooms.ts'
import { ReportedProgram } from './wire/program-info.ts'

export interface JanusNodeOptions {
  name: string
  rooms: JanusRooms
  traits: NodeTraits
  /**
   * Secret that signs tokens. It is specific to the controller, so a token cannot be forged even if the node does not
   * check signatures.
   */
  tokenSecret: string
  /** Ends the sessions of a removed user that are still open on the node. */
  expel: ExpelSessions
  /** Ids of relay participants on the node. */
  relayIds: RelayIds
  /** Relay participants that the previous controller left in the rooms. */
  relayed?: readonly RelayParticipant[] | undefined
  devices: (rooms: RoomsForDevices, emit: (event: NodeEvent) => void) => JanusRoomDevices
  /** Returns a user who entered through the room page; undefined for other users. */
  visitor: (roomId: string, userId: string) => Pick<NodeUser, 'role' | 'byNumber' | 'hand'> | undefined
  /** Returns whether a user who entered through the room page has joined by now. */
  isHere: (roomId: string, userId: string) => boolean
  /** Removals, shared by all nodes. */
  removals: Pick<RemovalsPort, 'remove' | 'refuses'>
  /** Returns the number of users in a room on other nodes, excluding this user. Left out: always 0. */
  onOtherNodes?: ((roomId: string, userId: string) => number) | undefined
  /** Called when the driver was closed. */
  released: () => void
  logger: NodeLogger
  /** Returns milliseconds since the epoch. */
  clock?: () => number
}

/** Timeout of requests that the driver sends after an event, in milliseconds. */
const ownRequestMs = 4_000

/** The driver of one Janus server. Uses requests to its VideoRoom plugin, and the node's events. */
export class JanusNode implements MediaNode {
  readonly #options: JanusNodeOptions
  readonly #rooms: HeldRooms
  readonly #admission: TokenAdmission
  readonly #entry: RoomAdmission
  readonly #removal: JanusRemoval
  readonly #participants: JanusParticipants
  readonly #devices: JanusRoomDevices
  /** Streams that other nodes relay to the rooms of this node. */
  readonly relays: RelayParticipants
  readonly #listeners = new Set<(event: NodeEvent) => void>()
  readonly #closing = new AbortController()
  /** Rooms whose participants were read. A new participant in such a room has just joined. */
  readonly #read = new Set<string>()
  #reporting = false
  readonly #program: ReportedProgram

  constructor(options: JanusNodeOptions) {
    this.#options = options
    const { rooms, traits, tokenSecret, clock = Date.now, devices, removals } = options
    this.#program = new ReportedProgram(traits, clock, () => this.#notify({ type: 'described' }))
    const room = (roomId: string): NodeRoom | undefined => this.#rooms.get(roomId)
    const isBeside = (roomId: string, userId: string): boolean => this.relays.isAdmitted(roomId, userId)
    this.#admission = new TokenAdmission(rooms, tokenSecret, () => traits.current.guarded, clock, isBeside)
    const admission = this.#admission
    const { relayIds: ids, relayed: left } = options
    this.relays = new RelayParticipants({ ids, rooms, admission, room, left, clock })
    this.#participants = new JanusParticipants({
      list: (roomId) => this.#own((signal) => rooms.participants(roomId, signal)),
      isDevice: (roomId, userId) => isScreen(userId) || this.#devices.holds(roomId, userId) || this.relays.has(userId),
      standingOf: (roomId, userId) =>
        options.visitor(roomId, userId) ?? { role: admission.roleOf(roomId, userId), byNumber: undefined },
      tell: (event) => this.#reportPerson(event),
      clock,
    })
    const participants = this.#participants
    this.#entry = new RoomAdmission({
      rooms,
      room,
      admission,
      participants,
      devices: () => this.#devices,
      relays: this.relays,
      onOtherNodes: options.onOtherNodes ?? (() => 0),
      removals,
      isProven: (roomId, userId) => traits.current.guarded || options.visitor(roomId, userId) !== undefined,
      clock,
    })
    this.#removal = new JanusRemoval({
      ...options,
      admission,
      participants,
      // A removal does not apply to a person who is still entering.
      isProven: (roomId, userId) => traits.current.guarded || options.isHere(roomId, userId),
    })
    this.#rooms = new HeldRooms({
      rooms,
      traits,
      admission,
      beside: (roomId) => this.relays.publishers(roomId),
      closing: (roomId, signal) => this.#removeDevices(roomId, signal),
      made: (roomId) => this.#read.add(roomId),
      dropped: (roomId) => {
        participants.clear(roomId)
        this.#read.delete(roomId)
      },
      leftOver: (roomId, name) =>
        this.#inBackground('a room of before', () => this.#own((signal) => rooms.destroy(roomId, signal, name))),
      listed: (listed) => this.#listed(listed),
    })
    const forDevices: RoomsForDevices = {
      admit: (roomId, device, signal) => this.#entry.admitDevice(roomId, device, signal),
      clear: (roomId, userId, signal) => this.#clear(roomId, userId, signal),
      nameOf: async (roomId, signal) => {
        await traits.read(signal)
        return rooms.nameOf(roomId)
      },
    }
    this.#devices = devices(forDevices, (event) => this.#reportDevice(event))
  }

  async openRoom(room: NodeRoom, signal: AbortSignal): Promise<void> {
    this.#assertOpen()
    if (room.mode > 2) throw new NodeError('rooms of mode 3 and 4 are not put on Janus nodes')
    await this.#rooms.open(room, signal)
  }

  async closeRoom(roomId: string, signal: AbortSignal): Promise<void> {
    this.#assertOpen()
    await this.#rooms.destroy(roomId, signal)
    this.#entry.forget(roomId)
  }

  async users(roomId: string, signal: AbortSignal): Promise<NodeUser[]> {
    this.#assertOpen()
    if (!this.#reporting || !this.#participants.isFresh(roomId)) await this.#participants.read(roomId, signal)
    this.#read.add(roomId)
    const users = [...this.#participants.usersOf(roomId), ...this.#devices.usersOf(roomId)]
    return users.sort((one, other) => one.joinedAt - other.joinedAt)
  }

  async kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    this.#assertOpen()
    if (!this.#devices.holds(roomId, userId)) return await this.#removal.kick(roomId, userId, signal)
    const isThere = this.#devices.usersOf(roomId).some((user) => user.userId === userId)
    this.#entry.forgetDevice(roomId, userId)
    await this.#devices.remove(roomId, userId, signal)
    return isThere
  }

  async addDevice(roomId: string, device: NodeDevice, { signal }: Deadline): Promise<void> {
    this.#assertOpen()
    if (!this.#rooms.has(roomId)) throw notOpen()
    await this.#devices.add(roomId, device, signal)
  }

  async removeDevice(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    this.#assertOpen()
    this.#entry.forgetDevice(roomId, userId)
    await this.#devices.remove(roomId, userId, signal)
    await this.#admission.takeBack(roomId, userId, signal)
  }

  async rooms(signal: AbortSignal): Promise<string[]> {
    this.#assertOpen()
    return await this.#rooms.list(signal)
  }

  async health(signal: AbortSignal): Promise<NodeHealth> {
    this.#assertOpen()
    try {
      if (this.#reporting && this.#rooms.isFresh) await this.#options.rooms.ping(signal)
      else await this.#rooms.list(signal)
    } catch (error) {
      // The next answer may come from another process with another configuration.
      this.#options.traits.forget()
      this.#rooms.doubt()
      throw error
    }
    this.#program.review()
    const users = this.#participants.users + this.#devices.users
    return { rooms: this.#rooms.size, users, pulls: this.#devices.pulls }
  }

  /** See RoomAdmission.admit. */
  async admit(request: AdmissionRequest, signal: AbortSignal): Promise<string> {
    this.#assertOpen()
    return await this.#entry.admit(request, signal)
  }

  /** See RoomAdmission.admitThroughPage. */
  async admitThroughPage(request: Omit<AdmissionRequest, 'expiresAt'>, signal: AbortSignal): Promise<JoinFields> {
    this.#assertOpen()
    return await this.#entry.admitThroughPage(request, signal)
  }

  async revoke(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    this.#assertOpen()
    await this.#admission.takeBack(roomId, userId, signal)
  }

  async displace(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    this.#assertOpen()
    await this.#removal.displace(roomId, userId, signal)
  }

  /**
   * Displaces a user who lost their connection to Janus's own API. All other users are connected through the
   * controller, which reconnects.
   */
  async displaceLost(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    const isPerson = this.#participants.user(roomId, userId) !== undefined && !this.#devices.holds(roomId, userId)
    if (isPerson && this.#options.visitor(roomId, userId) === undefined) await this.displace(roomId, userId, signal)
  }

  /** Handles that a user of the page joined, or failed to. Their token is withdrawn, so that it admits no one else. */
  joinedThroughPage(roomId: string, userId: string, { token }: Readonly<Record<string, unknown>>): void {
    // The node's event may arrive later.
    this.#readSoon(roomId)
    if (typeof token !== 'string') return
    this.#inBackground('a token of somebody who is in', () =>
      this.#own((signal) => this.#admission.withdraw(roomId, userId, token, signal)),
    )
  }

  /** Handles that the data of a user of the room page changed. */
  visitorChanged(roomId: string): void {
    this.#readSoon(roomId)
  }

  /**
   * Removes a participant who may rejoin at once, because another one with the same id takes their place.
   * @throws the errors of JanusRooms.kick
   */
  async clearPlace(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    await this.#options.rooms.kick(roomId, userId, signal)
  }

  /**
   * Mutes or unmutes a published stream.
   * @throws the errors of JanusRooms.moderate
   */
  async moderate(...request: Parameters<JanusRooms['moderate']>): Promise<void> {
    await this.#options.rooms.moderate(...request)
  }

  /** See JanusRemoval.isUnderWay. */
  kicks(roomId: string, userId: string): boolean {
    return this.#removal.isUnderWay(roomId, userId)
  }

  get program(): NodeProgram | undefined {
    return this.#program.value
  }

  /** Sets whether the node is connected to the event port. */
  reporting(reporting: boolean): void {
    this.#program.reporting(reporting)
    this.#reporting = reporting
    this.#participants.doubt()
    // Earlier events were lost, and later ones may be: the next poll lists all rooms.
    this.#rooms.doubt()
    if (reporting)
      this.#inBackground('a node that tells its events', () => this.#own((signal) => this.#rooms.list(signal)))
  }

  take(event: JanusEvent): void {
    if (event.type === 'started') return this.#restarted()
    const roomId = this.#options.rooms.roomOf(event.room)
    if (event.type === 'rooms') {
      this.#rooms.doubt()
      if (this.#rooms.has(roomId)) this.#readSoon(roomId)
      return
    }
    if (!this.#rooms.has(roomId)) return
    if (event.type === 'joined') {
      const { userId, key, token } = event
      this.#participants.notifyJoined(roomId, userId, key)
      if (!this.#entry.mayBe(roomId, userId, token)) return this.#removeSoon('user without access', roomId, userId)
    }
    this.#readSoon(roomId)
  }

  onEvent(listener: (event: NodeEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort(new NodeConnectionError('the node was taken out of service'))
    this.#listeners.clear()
    try {
      await this.#devices.close()
    } finally {
      this.#options.released()
    }
  }

  async #removeDevices(roomId: string, signal: AbortSignal): Promise<void> {
    await Promise.all(this.#devices.usersOf(roomId).map(({ userId }) => this.#devices.remove(roomId, userId, signal)))
  }

  /** Reads the room if its number of participants differs from the known one, or the node sends no events. */
  #listed({ roomId, participants }: ListedRoom): void {
    const known = this.#entry.countOf(roomId) + this.relays.count(roomId)
    if (participants !== known || (participants > 0 && !this.#reporting)) this.#readSoon(roomId)
  }

  /**
   * Removes a participant that has the id of a device but belongs to no known bridge. Returns false if the id is a
   * person's.
   */
  async #clear(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    if (this.#participants.user(roomId, userId) !== undefined) return false
    if (await this.#options.rooms.kick(roomId, userId, signal))
      this.#notify({ type: 'drifted', kind: 'cameraUnknown', subjects: [userId] })
    return true
  }

  /** Discards the known state of the node, which is then read again. */
  #restarted(): void {
    this.#options.traits.forget()
    this.#admission.lost()
    this.#rooms.clear()
    this.#read.clear()
    this.#participants.doubt()
    this.#notify({ type: 'restarted' })
  }

  #readSoon(roomId: string): void {
    this.#inBackground('the people of a room', () => this.#participants.read(roomId))
  }

  #removeSoon(what: string, roomId: string, userId: string): void {
    this.#inBackground(`removal of a ${what}`, () =>
      this.#own((signal) => this.#removal.remove(roomId, userId, signal)),
    )
  }

  /** Runs a task without a caller. After a failure, the next poll tries again. */
  #inBackground(what: string, run: () => Promise<unknown>): void {
    if (this.#closing.signal.aborted) return
    run().catch((error: unknown) => {
      if (this.#closing.signal.aborted) return
      const { name, logger } = this.#options
      if (error instanceof NodeError) logger.debug({ node: name, error: describeFailure(error) }, `${what}: not done`)
      else logger.warn({ node: name, err: error }, `${what}: not done`)
    })
  }

  #own<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return within({ milliseconds: ownRequestMs, signal: this.#closing.signal }, run)
  }

  #reportPerson(event: NodeEvent): void {
    this.#notify(event)
    if (event.type !== 'joined') return
    const { roomId, user } = event
    // Janus does not limit the number of people, so a user above the limit is removed at once. Users present before the
    // first reading stay.
    const tooMany = this.#read.has(roomId) && this.#entry.isOverfull(roomId, user.userId)
    const isBanned = this.#entry.isBanned(roomId, user.userId)
    if (tooMany || isBanned) this.#removeSoon(isBanned ? 'removed user' : 'user above the cap', roomId, user.userId)
  }

  #reportDevice(event: NodeEvent): void {
    if (event.type === 'joined') this.#entry.deviceJoined(event.roomId, event.user.userId)
    this.#notify(event)
  }

  #notify(event: NodeEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new NodeConnectionError('the node was taken out of service')
  }
}

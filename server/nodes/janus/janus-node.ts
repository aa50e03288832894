import { deviceErrorMessages } from '../../../shared/device.ts'
import { within } from '../deadline.ts'
import {
  DeviceJoinError,
  type MediaNode,
  NodeConnectionError,
  type NodeDevice,
  NodeError,
  type NodeEvent,
  type NodeHealth,
  type NodeRoom,
  type NodeUser,
} from '../media-node.ts'
import { describeFailure, type NodeLogger } from '../node-failure.ts'
import { JanusAdmission } from './admission.ts'
import type { JanusEvent } from './events/event-message.ts'
import type { ExpelSessions } from './expel-sessions.ts'
import { JanusParticipants } from './participants.ts'
import { isScreen } from './people/room-feeds.ts'
import type { NodeTraits } from './node-traits.ts'
import type { RelayIds } from './relay/relay-ids.ts'
import { RelayParticipants } from './relay/relay-participants.ts'
import type { RoomDevices, RoomsForDevices } from './room-devices.ts'
import type { JanusRooms } from './rooms.ts'
import { readRoomToken } from './signed-token.ts'

/** What a driver of a Janus node is made of. */
export interface JanusNodeOptions {
  name: string
  rooms: JanusRooms
  traits: NodeTraits
  /** Of signed tokens; also where the node does not look at signatures nobody else can make one. */
  tokenSecret: string
  /** Ends what somebody who was put out still has open on the node. */
  expel: ExpelSessions
  /** By which participants of relays are known. */
  relayIds: RelayIds
  devices: (rooms: RoomsForDevices, emit: (event: NodeEvent) => void) => RoomDevices
  /** Somebody was taken out by the controller's wish: it is remembered for as long as the site says. */
  removed: (roomId: string, userId: string) => void
  /** Somebody was taken out lately, and may not come back yet. */
  isBanned: (roomId: string, userId: string) => boolean
  /** The driver ended. */
  released: () => void
  logger: NodeLogger
  /** Milliseconds since the epoch. */
  clock?: () => number
}

/** A person's wish for a token. */
export interface AdmissionWish {
  roomId: string
  userId: string
  role: 'host' | 'member'
  /** Unix seconds. */
  expiresAt: number
}

/** What the controller asks by itself, after an event: milliseconds. */
const ownRequestMs = 4_000
/** While the node tells its events, its rooms are listed only so often, in milliseconds. */
const listEveryMs = 15_000

/** The driver of one Janus server: the port in requests to its VideoRoom plugin, and in what it tells. */
export class JanusNode implements MediaNode {
  readonly #options: JanusNodeOptions
  readonly #rooms: JanusRooms
  readonly #admission: JanusAdmission
  readonly #participants: JanusParticipants
  readonly #devices: RoomDevices
  /** Streams that are handed to its rooms by other nodes. */
  readonly relays: RelayParticipants
  readonly #listeners = new Set<(event: NodeEvent) => void>()
  readonly #closing = new AbortController()
  /** Rooms of ours that the node holds, as it was told; undefined: as an earlier controller told it. */
  readonly #held = new Map<string, NodeRoom | undefined>()
  /** Rooms that were made by rules of before. */
  readonly #outdated = new Set<string>()
  /** By room: devices that were in it and are still wanted. A locked room lets them back in. */
  readonly #known = new Map<string, Set<string>>()
  /** Rooms whose people are known: who comes now is new. */
  readonly #read = new Set<string>()
  /** Those whom the controller takes out at this moment, by room and user. */
  readonly #kicking = new Set<string>()
  #telling = false
  #listedAt = Number.NEGATIVE_INFINITY

  constructor(options: JanusNodeOptions) {
    this.#options = options
    const { rooms, traits, tokenSecret, clock = Date.now, devices } = options
    this.#rooms = rooms
    this.#admission = new JanusAdmission(rooms, tokenSecret, () => traits.current.guarded, clock)
    this.relays = new RelayParticipants({
      ids: options.relayIds,
      rooms,
      admission: this.#admission,
      room: (roomId) => this.#held.get(roomId),
      clock,
    })
    this.#participants = new JanusParticipants({
      list: (roomId) => this.#own((signal) => rooms.participants(roomId, signal)),
      isDevice: (roomId, userId) => isScreen(userId) || this.#devices.holds(roomId, userId) || this.relays.has(userId),
      roleOf: (roomId, userId) => this.#admission.roleOf(roomId, userId),
      tell: (event) => this.#tellOfPerson(event),
      clock,
    })
    const forDevices: RoomsForDevices = {
      admit: (roomId, device, signal) => this.#admitDevice(roomId, device, farAway(clock()), signal),
      clear: (roomId, userId, signal) => this.#clear(roomId, userId, signal),
    }
    this.#devices = devices(forDevices, (event) => this.#tellOfDevice(event))
  }

  async openRoom(room: NodeRoom, signal: AbortSignal): Promise<void> {
    this.#assertOpen()
    if (room.mode > 2) throw new NodeError('rooms of mode 3 and 4 are not put on Janus nodes')
    const { roomId } = room
    await this.#options.traits.read(signal)
    if (this.#outdated.has(roomId)) await this.#destroy(roomId, signal)
    const isNew = !this.#held.has(roomId)
    if ((isNew || !(await this.#change(room, signal))) && !(await this.#create(room, signal))) {
      // It is there, and nobody knew: by an answer that was lost, or by somebody else.
      await this.#listRooms(signal)
      if (this.#outdated.has(roomId)) await this.#destroy(roomId, signal)
      if (!(await this.#change(room, signal)) && !(await this.#create(room, signal)))
        throw new NodeError(`the room ${roomId} comes and goes on the node`)
    }
    this.#held.set(roomId, room)
  }

  async closeRoom(roomId: string, signal: AbortSignal): Promise<void> {
    this.#assertOpen()
    await this.#destroy(roomId, signal)
    this.#admission.forget(roomId)
    this.#known.delete(roomId)
  }

  async users(roomId: string, signal: AbortSignal): Promise<NodeUser[]> {
    this.#assertOpen()
    await this.#participants.read(roomId, signal)
    this.#read.add(roomId)
    const users = [...this.#participants.usersOf(roomId), ...this.#devices.usersOf(roomId)]
    return users.sort((one, other) => one.joinedAt - other.joinedAt)
  }

  async kick(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    this.#assertOpen()
    if (this.#devices.holds(roomId, userId)) {
      const isThere = this.#devices.usersOf(roomId).some((user) => user.userId === userId)
      this.#known.get(roomId)?.delete(userId)
      await this.#devices.remove(roomId, userId, signal)
      return isThere
    }
    if (this.#participants.user(roomId, userId) === undefined) {
      await this.#participants.read(roomId, signal)
      if (this.#participants.user(roomId, userId) === undefined) return false
    }
    const name = JSON.stringify([roomId, userId])
    this.#kicking.add(name)
    try {
      return await this.#putOut(roomId, userId, signal, () => this.#options.removed(roomId, userId))
    } finally {
      this.#kicking.delete(name)
    }
  }

  async addDevice(roomId: string, device: NodeDevice, signal: AbortSignal): Promise<void> {
    this.#assertOpen()
    if (!this.#held.has(roomId)) throw notOpen()
    await this.#devices.add(roomId, device, signal)
  }

  async removeDevice(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    this.#assertOpen()
    this.#known.get(roomId)?.delete(userId)
    await this.#devices.remove(roomId, userId, signal)
    await this.#admission.takeBack(roomId, userId, signal)
  }

  async rooms(signal: AbortSignal): Promise<string[]> {
    this.#assertOpen()
    return await this.#listRooms(signal)
  }

  async health(signal: AbortSignal): Promise<NodeHealth> {
    this.#assertOpen()
    try {
      if (this.#telling && performance.now() - this.#listedAt < listEveryMs) await this.#rooms.ping(signal)
      else await this.#listRooms(signal)
    } catch (error) {
      // It may be another process, with another configuration, that answers next.
      this.#options.traits.forget()
      this.#listedAt = Number.NEGATIVE_INFINITY
      throw error
    }
    const users = this.#participants.users + this.#devices.users
    return { rooms: this.#held.size, users, pulls: this.#devices.pulls }
  }

  /**
   * Lets somebody in who shows the token that is returned; it is empty where rooms are open to everybody.
   * @throws NodeError with what is in the way: the room is not here, locked or full, or they were taken out lately
   */
  async admit(wish: AdmissionWish, signal: AbortSignal): Promise<string> {
    this.#assertOpen()
    const { roomId, userId } = wish
    const room = this.#held.get(roomId)
    if (room === undefined) throw new NodeError('The room is not open on its node yet: try again.')
    if (this.relays.has(userId))
      throw new NodeError('This user id is kept for relays between nodes: choose another one.')
    if (this.#options.isBanned(roomId, userId)) throw new NodeError('They were taken out of the room a moment ago.')
    const isThere = this.#participants.user(roomId, userId) !== undefined
    if (!isThere && this.#countOf(roomId) >= room.attendeeMax) throw new NodeError('The room is full.')
    return await this.#admission.admit(wish, signal)
  }

  /**
   * What lets in somebody who comes through the room page, or their screen: fields of the join.
   * @throws as `admit`
   */
  async admitThroughPage(
    { roomId, userId, role }: Omit<AdmissionWish, 'expiresAt'>,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const wish = { roomId, userId, role, expiresAt: farAway((this.#options.clock ?? Date.now)()) }
    // A screen is nobody: whose it is has been let in.
    const token = isScreen(userId) ? await this.#admission.admit(wish, signal) : await this.admit(wish, signal)
    return token === '' ? {} : { token }
  }

  /** Takes a participant out who may come back at once: another one of the same name takes their place. @throws as JanusRooms.kick */
  async clearPlace(roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    await this.#rooms.kick(roomId, userId, signal)
  }

  /** Somebody is being taken out, by the controller's wish. */
  kicks(roomId: string, userId: string): boolean {
    return this.#kicking.has(JSON.stringify([roomId, userId]))
  }

  /** The node is connected to the event port, or no longer. */
  telling(telling: boolean): void {
    this.#telling = telling
    // What was told before is lost, and so may be what is told from now on: the next poll lists all.
    this.#listedAt = Number.NEGATIVE_INFINITY
    if (telling) this.#look('a node that tells its events', () => this.#own((signal) => this.#listRooms(signal)))
  }

  /** The node told something. */
  take(event: JanusEvent): void {
    if (event.type === 'started') return this.#restarted()
    const { roomId } = event
    if (event.type === 'rooms') {
      this.#listedAt = Number.NEGATIVE_INFINITY
      if (this.#held.has(roomId)) this.#readSoon(roomId)
      return
    }
    if (!this.#held.has(roomId)) return
    if (event.type === 'joined') {
      const { userId, key, token } = event
      this.#participants.toldJoined(roomId, userId, key)
      if (!this.#mayBe(roomId, userId, token)) {
        this.#look('somebody who may not be in a room', () =>
          this.#own((signal) => this.#putOut(roomId, userId, signal)),
        )
        return
      }
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

  /** @returns whether it was made: false where one of its id is there */
  async #create(room: NodeRoom, signal: AbortSignal): Promise<boolean> {
    const { roomId } = room
    const beside = this.relays.publishers(roomId)
    if (!(await this.#rooms.create(room, this.#admission.listFor(room), signal, beside))) return false
    this.#admission.made(room)
    this.#outdated.delete(room.roomId)
    this.#held.set(room.roomId, room)
    this.#read.add(room.roomId)
    return true
  }

  /** @returns whether it is there */
  async #change(room: NodeRoom, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#rooms.edit(room, signal, this.relays.publishers(room.roomId)))) return false
    await this.#admission.changed(room, signal)
    return true
  }

  async #destroy(roomId: string, signal: AbortSignal): Promise<void> {
    await Promise.all(this.#devices.usersOf(roomId).map(({ userId }) => this.#devices.remove(roomId, userId, signal)))
    await this.#rooms.destroy(roomId, signal)
    this.#dropped(roomId)
  }

  /** The room is gone from the node. */
  #dropped(roomId: string): void {
    this.#held.delete(roomId)
    this.#outdated.delete(roomId)
    this.#participants.clear(roomId)
    this.#read.delete(roomId)
  }

  /** What is held becomes what the node lists; where the node does not tell who comes and goes, rooms with people in them are read. */
  async #listRooms(signal: AbortSignal): Promise<string[]> {
    await this.#options.traits.read(signal)
    const before = new Set(this.#held.keys())
    const listed = await this.#rooms.list(signal)
    this.#listedAt = performance.now()
    const there = new Set(listed.map(({ roomId }) => roomId))
    for (const roomId of before) if (!there.has(roomId) && this.#held.has(roomId)) this.#dropped(roomId)
    for (const { roomId, participants, outdated } of listed) {
      if (outdated) this.#outdated.add(roomId)
      if (!this.#held.has(roomId)) this.#held.set(roomId, undefined)
      const known = this.#countOf(roomId) + this.relays.count(roomId)
      if (participants !== known || (participants > 0 && !this.#telling)) this.#readSoon(roomId)
    }
    return [...there]
  }

  async #admitDevice(
    roomId: string,
    { userId }: NodeDevice,
    expiresAt: number,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const room = this.#held.get(roomId)
    if (room === undefined) throw notOpen()
    if (this.#participants.user(roomId, userId) !== undefined)
      throw new DeviceJoinError('nodeFailed', 'A person with this userId is in the room.')
    const wasThere = this.#known.get(roomId)?.has(userId) === true
    if (room.locked && !wasThere) throw new DeviceJoinError('roomLocked', deviceErrorMessages.roomLocked)
    if (this.#countOf(roomId) >= room.attendeeMax) throw new DeviceJoinError('roomFull', deviceErrorMessages.roomFull)
    const token = await this.#admission.admit({ roomId, userId, role: 'device', expiresAt }, signal)
    return token === '' ? {} : { token }
  }

  /** A participant with the id of a device that nobody knows any more. */
  async #clear(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    if (this.#participants.user(roomId, userId) !== undefined) return false
    await this.#rooms.kick(roomId, userId, signal)
    return true
  }

  async #putOut(roomId: string, userId: string, signal: AbortSignal, before?: () => void): Promise<boolean> {
    // From here on they can open nothing more; with the stay goes what tells which ends are theirs.
    await this.#admission.takeBack(roomId, userId, signal)
    const open = await this.#options.expel.find(
      { roomId, userId, key: this.#participants.keyOf(roomId, userId) },
      signal,
    )
    const wasThere = await this.#rooms.kick(roomId, userId, signal)
    if (wasThere) before?.()
    await this.#options.expel.end(open, signal)
    this.#participants.left(roomId, userId)
    return wasThere
  }

  /** Whether somebody who joined may: nobody borrows a name, and who was taken out stays out for a while. */
  #mayBe(roomId: string, userId: string, token: string | undefined): boolean {
    if (this.#devices.holds(roomId, userId)) return true
    if (this.#options.isBanned(roomId, userId)) return false
    return token === undefined || readRoomToken(token)?.userId === userId
  }

  #countOf(roomId: string): number {
    return this.#participants.count(roomId) + this.#devices.usersOf(roomId).length
  }

  /** Everything of the node is void; what it holds is asked anew. */
  #restarted(): void {
    this.#options.traits.forget()
    this.#admission.lost()
    this.#held.clear()
    this.#outdated.clear()
    this.#read.clear()
    this.#listedAt = Number.NEGATIVE_INFINITY
    this.#tell({ type: 'restarted' })
  }

  #readSoon(roomId: string): void {
    this.#look('the people of a room', () => this.#participants.read(roomId))
  }

  /** Does something by itself: what fails is tried again by the next poll. */
  #look(what: string, run: () => Promise<unknown>): void {
    if (this.#closing.signal.aborted) return
    run().catch((error: unknown) => {
      if (this.#closing.signal.aborted) return
      const { name, logger } = this.#options
      if (error instanceof NodeError) logger.debug({ node: name, error: describeFailure(error) }, `${what}: not read`)
      else logger.warn({ node: name, err: error }, `${what}: not read`)
    })
  }

  #own<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return within({ milliseconds: ownRequestMs, signal: this.#closing.signal }, run)
  }

  #tellOfPerson(event: NodeEvent): void {
    this.#tell(event)
    if (event.type !== 'joined') return
    const { roomId, user } = event
    const room = this.#held.get(roomId)
    // Janus knows no cap on people: whoever is one too many is put out at once. Who was in the room before it was looked at stays.
    const tooMany = room !== undefined && this.#read.has(roomId) && this.#countOf(roomId) > room.attendeeMax
    if (tooMany || this.#options.isBanned(roomId, user.userId))
      this.#look('somebody too many', () => this.#own((signal) => this.#putOut(roomId, user.userId, signal)))
  }

  #tellOfDevice(event: NodeEvent): void {
    if (event.type === 'joined') {
      const known = this.#known.get(event.roomId) ?? new Set<string>()
      this.#known.set(event.roomId, known.add(event.user.userId))
    }
    this.#tell(event)
  }

  #tell(event: NodeEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new NodeConnectionError('the node was taken out of service')
  }
}

function notOpen(): DeviceJoinError {
  return new DeviceJoinError('nodeFailed', 'The room is not open on this node.')
}

/** A device stays for as long as it is wanted: its token is taken back, it does not end. */
function farAway(now: number): number {
  return Math.floor(now / 1_000) + 10 * 365 * 24 * 3_600
}

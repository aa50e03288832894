import type { NodeDevice, NodeEvent, NodeRoom, NodeUser } from '../../port/media-node-port.ts'
import type { RemovalsPort } from '../../port/removals-port.ts'
import type { JanusEvent } from '../events/event-message.ts'
import type { PageEntrance } from '../people/participant-session.ts'
import { isScreen } from '../people/room-feeds.ts'
import type { PagePerson } from '../../port/room-media.ts'
import { type RelayIds, type RelayParticipant, RelayParticipants } from '../relay/relay-participants.ts'
import type { NodeTraits } from '../wire/node-traits.ts'
import { HeldRooms, type HeldRoomsListener } from './held-rooms.ts'
import type { JanusRooms, ListedRoom } from './janus-rooms.ts'
import type { OwnRequests } from './own-requests.ts'
import { JanusParticipants } from './participants.ts'
import { type ExpelSessions, JanusRemoval } from './removal.ts'
import { type JoinFields, RoomAdmission, type Visitors } from './room-admission.ts'
import type { JanusRoomDevices, RoomsForDevices } from './room-devices.ts'
import { TokenAdmission } from './token-admission.ts'

export interface NodeOccupancyOptions {
  rooms: JanusRooms
  traits: NodeTraits
  /** Secret that signs tokens, and makes them unguessable even if the node does not check signatures. */
  tokenSecret: string
  /** Ends the sessions of a removed user that are still open on the node. */
  expel: ExpelSessions
  /** Ids of relay participants on the node. */
  relayIds: RelayIds
  /** Relay participants that the previous controller left in the rooms. */
  relayed?: readonly RelayParticipant[] | undefined
  devices: (rooms: RoomsForDevices, emit: (event: NodeEvent) => void) => JanusRoomDevices
  visitors: Visitors
  /** Removals, shared by all nodes. */
  removals: Pick<RemovalsPort, 'remove' | 'refuses'>
  /** Returns the number of users in a room on other nodes, excluding this user. Left out: always 0. */
  onOtherNodes?: ((roomId: string, userId: string) => number) | undefined
  /** Returns milliseconds since the epoch. */
  clock?: () => number
}

/**
 * The rooms of this site on one Janus, and who is in them: people, devices and relayed streams. Follows the node's
 * events and lists, and removes users who may not be there.
 */
export class NodeOccupancy implements HeldRoomsListener, PageEntrance {
  readonly rooms: HeldRooms
  readonly admission: TokenAdmission
  readonly entry: RoomAdmission
  readonly removal: JanusRemoval
  readonly participants: JanusParticipants
  readonly devices: JanusRoomDevices
  /** Streams that other nodes relay to the rooms of this node. */
  readonly relays: RelayParticipants
  readonly #options: NodeOccupancyOptions
  readonly #requests: OwnRequests
  readonly #emit: (event: NodeEvent) => void
  /** Rooms whose participants were read. A new participant in such a room has just joined. */
  readonly #read = new Set<string>()
  #isReporting = false

  /** @param emit called with the events of the node for the pool */
  constructor(options: NodeOccupancyOptions, requests: OwnRequests, emit: (event: NodeEvent) => void) {
    const { rooms, traits, tokenSecret, visitors, clock = Date.now, devices, removals } = options
    this.#options = options
    this.#requests = requests
    this.#emit = emit
    const room = (roomId: string): NodeRoom | undefined => this.rooms.get(roomId)
    const isBeside = (roomId: string, userId: string): boolean => this.relays.isAdmitted(roomId, userId)
    this.admission = new TokenAdmission(rooms, tokenSecret, traits, clock, isBeside)
    const { admission } = this
    const { relayIds: ids, relayed: left } = options
    this.relays = new RelayParticipants({ ids, rooms, admission, room, left, clock })
    this.participants = new JanusParticipants({
      list: (roomId) => requests.send((signal) => rooms.participants(roomId, signal)),
      isDevice: (roomId, userId) => isScreen(userId) || this.devices.holds(roomId, userId) || this.relays.has(userId),
      standingOf: (roomId, userId) =>
        visitors.personOf(roomId, userId) ?? { role: admission.roleOf(roomId, userId), byNumber: undefined },
      tell: (event) => this.#reportPerson(event),
      clock,
    })
    const { participants, relays } = this
    this.entry = new RoomAdmission({
      ...{ rooms, room, admission, participants, relays, traits, visitors, removals, clock },
      devices: () => this.devices,
      onOtherNodes: options.onOtherNodes ?? (() => 0),
    })
    this.removal = new JanusRemoval({ ...options, admission, participants })
    this.rooms = new HeldRooms({ rooms, traits, admission, relays, listener: this })
    this.devices = devices(this.#forDevices(), (event) => this.#reportDevice(event))
  }

  /** Whether the node sends its events. */
  get isReporting(): boolean {
    return this.#isReporting
  }

  /**
   * Returns the users of a room in the order they joined. Reads the people first, unless they are known.
   * @throws the errors of JanusRooms.participants; the signal's reason
   */
  async usersOf(roomId: string, signal: AbortSignal): Promise<NodeUser[]> {
    if (!this.#isReporting || !this.participants.isFresh(roomId)) await this.participants.read(roomId, signal)
    this.#read.add(roomId)
    const users = [...this.participants.usersOf(roomId), ...this.devices.usersOf(roomId)]
    return users.sort((one, other) => one.joinedAt - other.joinedAt)
  }

  /** Sets whether the node is connected to the event port. */
  reporting(reporting: boolean): void {
    this.#isReporting = reporting
    this.participants.doubt()
    // Events may have been lost, so the next poll lists all rooms.
    this.rooms.doubt()
    if (!reporting) return
    this.#requests.inBackground('listing the rooms of a node', () =>
      this.#requests.send((signal) => this.rooms.list(signal)),
    )
  }

  /** Handles an event of the node. */
  take(event: JanusEvent): void {
    if (event.type === 'started') return this.#restarted()
    const roomId = this.#options.rooms.roomOf(event.room)
    if (event.type === 'rooms') {
      this.rooms.doubt()
      if (this.rooms.has(roomId)) this.#readSoon(roomId)
      return
    }
    if (!this.rooms.has(roomId)) return
    if (event.type === 'joined') {
      const { userId, key, token } = event
      this.participants.notifyJoined(roomId, userId, key)
      if (!this.entry.mayBe(roomId, userId, token)) return this.#removeSoon('user without access', roomId, userId)
    }
    this.#readSoon(roomId)
  }

  /**
   * Returns the fields of the join request of a user of the room page.
   * @throws the errors of RoomAdmission.admitThroughPage; NodeConnectionError if the node is out of service
   */
  async admit(person: PagePerson, signal: AbortSignal): Promise<JoinFields> {
    this.#requests.assertOpen()
    return await this.entry.admitThroughPage(person, signal)
  }

  /** Withdraws the token of a user of the page who joined or failed to join, so that the token admits no one else. */
  admitted({ roomId, userId }: PagePerson, { token }: Readonly<Record<string, unknown>>): void {
    // Reads the room now, because the node's event may arrive later.
    this.#readSoon(roomId)
    if (typeof token !== 'string') return
    this.#requests.inBackground('withdrawing the token of a user who joined', () =>
      this.#requests.send((signal) => this.admission.withdraw(roomId, userId, token, signal)),
    )
  }

  /** Handles a change of the data of a user of the page. */
  changed({ roomId }: PagePerson): void {
    this.#readSoon(roomId)
  }

  /** Removes the devices of a room that is about to be destroyed. */
  async onClosing(roomId: string, signal: AbortSignal): Promise<void> {
    await Promise.all(this.devices.usersOf(roomId).map(({ userId }) => this.devices.remove(roomId, userId, signal)))
  }

  /** Records that a new room has no participants yet. */
  onMade(roomId: string): void {
    this.#read.add(roomId)
  }

  /** Reports that all people have left the room. */
  onDropped(roomId: string): void {
    this.participants.clear(roomId)
    this.#read.delete(roomId)
  }

  /** Destroys a room that also exists under its current name. */
  onLeftOver(roomId: string, name: string): void {
    this.#requests.inBackground('destroying a room with an outdated name', () =>
      this.#requests.send((signal) => this.#options.rooms.destroy(roomId, signal, name)),
    )
  }

  /** Reads the room if its number of participants differs from the known number, or the node sends no events. */
  onListed({ roomId, participants }: ListedRoom): void {
    const known = this.entry.countOf(roomId) + this.relays.count(roomId)
    if (participants !== known || (participants > 0 && !this.#isReporting)) this.#readSoon(roomId)
  }

  #forDevices(): RoomsForDevices {
    const { rooms, traits } = this.#options
    return {
      admit: (roomId: string, device: NodeDevice, signal) => this.entry.admitDevice(roomId, device, signal),
      clear: (roomId, userId, signal) => this.#clear(roomId, userId, signal),
      nameOf: async (roomId, signal) => {
        await traits.read(signal)
        return rooms.nameOf(roomId)
      },
    }
  }

  /**
   * Removes a participant that has the id of a device but belongs to no known bridge. Returns false if the id is a
   * person's.
   */
  async #clear(roomId: string, userId: string, signal: AbortSignal): Promise<boolean> {
    if (this.participants.user(roomId, userId) !== undefined) return false
    if (await this.#options.rooms.kick(roomId, userId, signal))
      this.#emit({ type: 'drifted', kind: 'cameraUnknown', subjects: [userId] })
    return true
  }

  /** Discards the known state of the node, which is then read again. */
  #restarted(): void {
    this.#options.traits.forget()
    this.admission.lost()
    this.rooms.clear()
    this.#read.clear()
    this.participants.doubt()
    this.#emit({ type: 'restarted' })
  }

  #readSoon(roomId: string): void {
    this.#requests.inBackground('reading the people of a room', () => this.participants.read(roomId))
  }

  #removeSoon(whom: string, roomId: string, userId: string): void {
    this.#requests.inBackground(`removing a ${whom}`, () =>
      this.#requests.send((signal) => this.removal.remove(roomId, userId, signal)),
    )
  }

  #reportPerson(event: NodeEvent): void {
    this.#emit(event)
    if (event.type !== 'joined') return
    const { roomId, user } = event
    // Janus does not limit the number of people, so a user above the limit is removed at once. Users present before the
    // first reading stay.
    const tooMany = this.#read.has(roomId) && this.entry.isOverfull(roomId, user.userId)
    const isBanned = this.entry.isBanned(roomId, user.userId)
    if (tooMany || isBanned) this.#removeSoon(isBanned ? 'removed user' : 'user above the limit', roomId, user.userId)
  }

  #reportDevice(event: NodeEvent): void {
    if (event.type === 'joined') this.entry.deviceJoined(event.roomId, event.user.userId)
    this.#emit(event)
  }
}

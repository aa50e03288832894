import { NodeError, type NodeRoom } from '../../port/media-node-port.ts'
import type { TokenAdmission } from './token-admission.ts'
import type { RelayParticipants } from '../relay/relay-participants.ts'
import type { NodeTraits } from '../wire/node-traits.ts'
import type { JanusRooms, ListedRoom } from './janus-rooms.ts'

export interface HeldRoomsOptions {
  rooms: JanusRooms
  traits: Pick<NodeTraits, 'read'>
  admission: TokenAdmission
  /** Relayed streams, which are permitted in a room in addition to its people. */
  relays: Pick<RelayParticipants, 'publishers'>
  listener: HeldRoomsListener
}

export interface HeldRoomsListener {
  /** Called before the room is destroyed. */
  onClosing(roomId: string, signal: AbortSignal): Promise<void>
  /** Called when the room was created, without participants. */
  onMade(roomId: string): void
  /** Called when the room no longer exists. */
  onDropped(roomId: string): void
  /** Called when the room also exists under an earlier name, which is no longer needed. */
  onLeftOver(roomId: string, name: string): void
  /** Called for each room that the node lists. */
  onListed(room: ListedRoom): void
}

/** Interval of listing the rooms of a node that sends its events, in milliseconds. */
const listEveryMs = 15_000

/**
 * The rooms of this site on one Janus. Creates, changes and destroys rooms, and compares the known rooms with the
 * node's list.
 */
export class HeldRooms {
  readonly #options: HeldRoomsOptions
  /** Rooms as last sent to the node; undefined: created by an earlier controller. */
  readonly #held = new Map<string, NodeRoom | undefined>()
  /** Names on the node of rooms with outdated settings, by room id. */
  readonly #outdated = new Map<string, string>()
  #listedAt = Number.NEGATIVE_INFINITY

  constructor(options: HeldRoomsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#held.size
  }

  has(roomId: string): boolean {
    return this.#held.has(roomId)
  }

  /**
   * Returns the room as last sent to the node; undefined if the node does not hold the room, or an earlier controller
   * created it.
   */
  get(roomId: string): NodeRoom | undefined {
    return this.#held.get(roomId)
  }

  /** Returns whether the node's list was read recently, without a later event that may have changed it. */
  get isFresh(): boolean {
    return performance.now() - this.#listedAt < listEveryMs
  }

  /** See MediaNode.openRoom. */
  async open(room: NodeRoom, signal: AbortSignal): Promise<void> {
    const { roomId } = room
    await this.#options.traits.read(signal)
    if (this.#outdated.has(roomId)) await this.destroy(roomId, signal)
    const isNew = !this.#held.has(roomId)
    if ((isNew || !(await this.#change(room, signal))) && !(await this.#create(room, signal))) {
      // The room exists, but was unknown: an answer was lost, or another site created the room.
      await this.list(signal)
      if (this.#outdated.has(roomId)) await this.destroy(roomId, signal)
      if (!(await this.#change(room, signal)) && !(await this.#create(room, signal)))
        throw new NodeError(`the room ${roomId} comes and goes on the node`)
    }
    this.#held.set(roomId, room)
  }

  /**
   * Removes all participants, and destroys the room.
   * @throws the errors of AdminApi.askPlugin
   */
  async destroy(roomId: string, signal: AbortSignal): Promise<void> {
    const { rooms, listener } = this.#options
    await listener.onClosing(roomId, signal)
    await rooms.destroy(roomId, signal, this.#outdated.get(roomId))
    this.#drop(roomId)
  }

  /**
   * Reads the node's list, which replaces the known rooms.
   * @throws the errors of AdminApi.askPlugin
   */
  async list(signal: AbortSignal): Promise<string[]> {
    const { rooms, traits, listener } = this.#options
    await traits.read(signal)
    const before = new Set(this.#held.keys())
    const listed = await rooms.list(signal)
    this.#listedAt = performance.now()
    const there = new Set(listed.map(({ roomId }) => roomId))
    const current = new Set(listed.filter(({ outdated }) => !outdated).map(({ roomId }) => roomId))
    for (const roomId of before) if (!there.has(roomId) && this.#held.has(roomId)) this.#drop(roomId)
    for (const room of listed) {
      const { roomId, name, outdated } = room
      // The room was created again under its current name before the room with the earlier name was found.
      if (outdated && current.has(roomId)) {
        listener.onLeftOver(roomId, name)
        continue
      }
      if (outdated) this.#outdated.set(roomId, name)
      if (!this.#held.has(roomId)) this.#held.set(roomId, undefined)
      listener.onListed(room)
    }
    return [...there]
  }

  /** Makes the next health check list the rooms, because events may have been missed. */
  doubt(): void {
    this.#listedAt = Number.NEGATIVE_INFINITY
  }

  /** Removes all rooms, because the node has none. */
  clear(): void {
    this.#held.clear()
    this.#outdated.clear()
    this.doubt()
  }

  /** Creates the room. Returns false if a room with this id exists. */
  async #create(room: NodeRoom, signal: AbortSignal): Promise<boolean> {
    const { roomId } = room
    const { rooms, admission, relays, listener } = this.#options
    if (!(await rooms.create(room, admission.listFor(room), signal, relays.publishers(roomId)))) return false
    admission.made(room)
    this.#outdated.delete(roomId)
    this.#held.set(roomId, room)
    listener.onMade(roomId)
    return true
  }

  /** Changes the room. Returns false if the room does not exist. */
  async #change(room: NodeRoom, signal: AbortSignal): Promise<boolean> {
    const { rooms, admission, relays } = this.#options
    if (!(await rooms.edit(room, signal, relays.publishers(room.roomId)))) return false
    await admission.changed(room, signal)
    return true
  }

  #drop(roomId: string): void {
    this.#held.delete(roomId)
    this.#outdated.delete(roomId)
    this.#options.listener.onDropped(roomId)
  }
}

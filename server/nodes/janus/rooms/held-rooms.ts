import { NodeError, type NodeRoom } from '../../port/media-node-port.ts'
import type { TokenAdmission } from './token-admission.ts'
import type { NodeTraits } from '../wire/node-traits.ts'
import type { JanusRooms, ListedRoom } from './janus-rooms.ts'

/** Needs of the rooms of one node. */
export interface HeldRoomsOptions {
  rooms: JanusRooms
  traits: Pick<NodeTraits, 'read'>
  admission: TokenAdmission
  /** So many may publish in a room beside its people. */
  beside: (roomId: string) => number
  /** The room is about to be destroyed. */
  closing: (roomId: string, signal: AbortSignal) => Promise<void>
  /** It was made, and nobody is in it. */
  made: (roomId: string) => void
  /** It is gone. */
  dropped: (roomId: string) => void
  /** It is there once more under a name of before: nobody needs that one. */
  leftOver: (roomId: string, name: string) => void
  /** The node listed it. */
  listed: (room: ListedRoom) => void
}

/** While the node tells its events, its rooms are listed only so often, in milliseconds. */
const listEveryMs = 15_000

/** The rooms of ours that one Janus holds: made, changed and destroyed as the controller wishes, and compared with what the node lists. */
export class HeldRooms {
  readonly #options: HeldRoomsOptions
  /** Rooms as the node got them; undefined: from an earlier controller. */
  readonly #held = new Map<string, NodeRoom | undefined>()
  /** Rooms that were made by rules of before, and what they are called on the node. */
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

  /** The room as the node got it; undefined if it does not hold it, or got it from an earlier controller. */
  get(roomId: string): NodeRoom | undefined {
    return this.#held.get(roomId)
  }

  /** Whether the node's list was read a moment ago, without a later event that it would not have. */
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
      // It is there, and nobody knew: by an answer that was lost, or by somebody else.
      await this.list(signal)
      if (this.#outdated.has(roomId)) await this.destroy(roomId, signal)
      if (!(await this.#change(room, signal)) && !(await this.#create(room, signal)))
        throw new NodeError(`the room ${roomId} comes and goes on the node`)
    }
    this.#held.set(roomId, room)
  }

  /** Everybody is out, and the room is gone. @throws as AdminApi.askPlugin */
  async destroy(roomId: string, signal: AbortSignal): Promise<void> {
    const { rooms, closing } = this.#options
    await closing(roomId, signal)
    await rooms.destroy(roomId, signal, this.#outdated.get(roomId))
    this.#drop(roomId)
  }

  /** Takes the node's list as the rooms that it holds. @throws as AdminApi.askPlugin */
  async list(signal: AbortSignal): Promise<string[]> {
    const { rooms, traits, leftOver, listed: tell } = this.#options
    await traits.read(signal)
    const before = new Set(this.#held.keys())
    const listed = await rooms.list(signal)
    this.#listedAt = performance.now()
    const there = new Set(listed.map(({ roomId }) => roomId))
    const current = new Set(listed.filter(({ outdated }) => !outdated).map(({ roomId }) => roomId))
    for (const roomId of before) if (!there.has(roomId) && this.#held.has(roomId)) this.#drop(roomId)
    for (const room of listed) {
      const { roomId, name, outdated } = room
      // It was made again under its present name before the earlier one was found.
      if (outdated && current.has(roomId)) {
        leftOver(roomId, name)
        continue
      }
      if (outdated) this.#outdated.set(roomId, name)
      if (!this.#held.has(roomId)) this.#held.set(roomId, undefined)
      tell(room)
    }
    return [...there]
  }

  /** Notes that events may have been missed: the next caller lists the rooms. */
  doubt(): void {
    this.#listedAt = Number.NEGATIVE_INFINITY
  }

  /** The node is empty. */
  clear(): void {
    this.#held.clear()
    this.#outdated.clear()
    this.doubt()
  }

  /** @returns whether it was made: false where one of its id is there */
  async #create(room: NodeRoom, signal: AbortSignal): Promise<boolean> {
    const { roomId } = room
    const { rooms, admission, beside, made } = this.#options
    if (!(await rooms.create(room, admission.listFor(room), signal, beside(roomId)))) return false
    admission.made(room)
    this.#outdated.delete(roomId)
    this.#held.set(roomId, room)
    made(roomId)
    return true
  }

  /** @returns whether it is there */
  async #change(room: NodeRoom, signal: AbortSignal): Promise<boolean> {
    const { rooms, admission, beside } = this.#options
    if (!(await rooms.edit(room, signal, beside(room.roomId)))) return false
    await admission.changed(room, signal)
    return true
  }

  #drop(roomId: string): void {
    this.#held.delete(roomId)
    this.#outdated.delete(roomId)
    this.#options.dropped(roomId)
  }
}

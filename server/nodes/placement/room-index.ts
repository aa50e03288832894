import type { StoredRoom } from '../../store/records.ts'

/**
 * Which rooms the store assigns to which node, and which are about to be, so that counting and walking a node's rooms does not walk all rooms. Rooms without a node
 * cost nothing.
 */
export class RoomIndex {
  readonly #nodeOf = new Map<string, string>()
  readonly #rooms = new Map<string, Set<string>>()
  /** The node that a room is about to be assigned to, and how many such rooms each node has. */
  readonly #reservedOn = new Map<string, string>()
  readonly #reservedCount = new Map<string, number>()

  /** Built once from what is stored; kept by `set`. */
  constructor(rooms: ReadonlyMap<string, StoredRoom>) {
    for (const [roomId, room] of rooms) this.set(roomId, room.node)
  }

  /** Name of the node the room is assigned to; empty when it is not. */
  nodeOf(roomId: string): string {
    return this.#nodeOf.get(roomId) ?? ''
  }

  /** How many rooms the node has. */
  count(node: string): number {
    return this.#rooms.get(node)?.size ?? 0
  }

  /** How many rooms the node has or is about to have. */
  load(node: string): number {
    return this.count(node) + (this.#reservedCount.get(node) ?? 0)
  }

  /** Name of the node that the room is about to be assigned to; empty when there is none. */
  reservedOn(roomId: string): string {
    return this.#reservedOn.get(roomId) ?? ''
  }

  /** The room is about to be assigned to that node, until `release`. A room is reserved on one node at a time. */
  reserve(roomId: string, node: string): void {
    this.release(roomId)
    this.#reservedOn.set(roomId, node)
    this.#reservedCount.set(node, (this.#reservedCount.get(node) ?? 0) + 1)
  }

  /** The room was assigned, or will not be. */
  release(roomId: string): void {
    const node = this.#reservedOn.get(roomId)
    if (node === undefined) return
    this.#reservedOn.delete(roomId)
    const left = (this.#reservedCount.get(node) ?? 0) - 1
    if (left > 0) this.#reservedCount.set(node, left)
    else this.#reservedCount.delete(node)
  }

  /** The node's rooms as they are now (a copy). */
  roomsOf(node: string): string[] {
    return [...(this.#rooms.get(node) ?? [])]
  }

  /** The room is assigned to `node` (the empty name: to none); returns where it was before. */
  set(roomId: string, node: string): string {
    const before = this.nodeOf(roomId)
    if (before === node) return before
    if (before !== '') {
      const rooms = this.#rooms.get(before)
      rooms?.delete(roomId)
      if (rooms?.size === 0) this.#rooms.delete(before)
    }
    if (node === '') {
      this.#nodeOf.delete(roomId)
      return before
    }
    this.#nodeOf.set(roomId, node)
    const rooms = this.#rooms.get(node)
    if (rooms === undefined) this.#rooms.set(node, new Set([roomId]))
    else rooms.add(roomId)
    return before
  }
}

import type { StoredRoom } from '../../store/records.ts'

/** Which rooms the store assigns to which node, so that counting and walking a node's rooms does not walk all rooms. Rooms without a node cost nothing. */
export class RoomIndex {
  readonly #nodeOf = new Map<string, string>()
  readonly #rooms = new Map<string, Set<string>>()

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

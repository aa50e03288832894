import type { StoredRoom } from '../../../store/records.ts'
import { nodesOf, type RoomNodes } from './room-nodes.ts'

/** Names of no nodes. */
const none: readonly string[] = []

/**
 * Which rooms the store assigns to which nodes, and which are about to be, so that counting and walking a node's rooms does not walk all rooms. A room counts on each node that
 * holds it, its own and its secondary nodes. Rooms without a node cost nothing.
 */
export class RoomIndex {
  readonly #nodeOf = new Map<string, string>()
  /** All nodes of the rooms that have secondary nodes. */
  readonly #spread = new Map<string, readonly string[]>()
  readonly #rooms = new Map<string, Set<string>>()
  /** Nodes that a room is about to be put on, and how many such rooms each node has. */
  readonly #reserved = new Map<string, readonly string[]>()
  readonly #reservedCount = new Map<string, number>()

  /** Built once from what is stored; kept by `set`. */
  constructor(rooms: ReadonlyMap<string, StoredRoom>) {
    for (const [roomId, room] of rooms) this.set(roomId, room)
  }

  /** Name of the room's own node; empty when it has none. */
  nodeOf(roomId: string): string {
    return this.#nodeOf.get(roomId) ?? ''
  }

  /** Names of the nodes that hold the room, its own first; empty when it has none. O(1). */
  nodesOf(roomId: string): readonly string[] {
    const spread = this.#spread.get(roomId)
    if (spread !== undefined) return spread
    const node = this.#nodeOf.get(roomId)
    return node === undefined ? none : [node]
  }

  /** How many rooms the node has. */
  count(node: string): number {
    return this.#rooms.get(node)?.size ?? 0
  }

  /** How many rooms the node has or is about to have. */
  load(node: string): number {
    return this.count(node) + (this.#reservedCount.get(node) ?? 0)
  }

  /** Names of the nodes that the room is about to be put on. */
  reservedOn(roomId: string): readonly string[] {
    return this.#reserved.get(roomId) ?? none
  }

  /** The room is about to be put on that node, until `release`. */
  reserve(roomId: string, node: string): void {
    const nodes = this.reservedOn(roomId)
    if (nodes.includes(node)) return
    this.#reserved.set(roomId, [...nodes, node])
    this.#reservedCount.set(node, (this.#reservedCount.get(node) ?? 0) + 1)
  }

  /** The room was put there, or will not be. */
  release(roomId: string, node: string): void {
    const nodes = this.reservedOn(roomId)
    if (!nodes.includes(node)) return
    const others = nodes.filter((name) => name !== node)
    if (others.length > 0) this.#reserved.set(roomId, others)
    else this.#reserved.delete(roomId)
    const left = (this.#reservedCount.get(node) ?? 0) - 1
    if (left > 0) this.#reservedCount.set(node, left)
    else this.#reservedCount.delete(node)
  }

  /** The node holds some of the room's people, and is not its own node. O(1). */
  isSecondary(roomId: string, node: string): boolean {
    return this.#spread.get(roomId)?.includes(node, 1) === true
  }

  /** Rooms that have secondary nodes. */
  roomsOnSeveralNodes(): string[] {
    return [...this.#spread.keys()]
  }

  /** Rooms that have secondary nodes and are on that node, as its own or as a secondary node. Walks the rooms that have secondary nodes. */
  roomsWithSecondaryOn(node: string): string[] {
    return [...this.#spread].flatMap(([roomId, nodes]) => (nodes.includes(node) ? [roomId] : []))
  }

  /** The node's rooms as they are now (a copy). */
  roomsOf(node: string): string[] {
    return [...(this.#rooms.get(node) ?? [])]
  }

  /** Stores the nodes of a room; undefined when the room is gone. Returns its nodes from before. */
  set(roomId: string, room: RoomNodes | undefined): readonly string[] {
    const before = this.nodesOf(roomId)
    const after = room === undefined ? none : nodesOf(room)
    for (const name of before) if (!after.includes(name)) this.#remove(name, roomId)
    for (const name of after) if (!before.includes(name)) this.#add(name, roomId)
    const [node] = after
    if (node === undefined) this.#nodeOf.delete(roomId)
    else this.#nodeOf.set(roomId, node)
    if (after.length > 1) this.#spread.set(roomId, after)
    else this.#spread.delete(roomId)
    return before
  }

  #add(node: string, roomId: string): void {
    const rooms = this.#rooms.get(node)
    if (rooms === undefined) this.#rooms.set(node, new Set([roomId]))
    else rooms.add(roomId)
  }

  #remove(node: string, roomId: string): void {
    const rooms = this.#rooms.get(node)
    rooms?.delete(roomId)
    if (rooms?.size === 0) this.#rooms.delete(node)
  }
}

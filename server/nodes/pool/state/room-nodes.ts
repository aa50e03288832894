import type { StoredRoom } from '../../../store/records.ts'

/** Fields of a room record that name its nodes. */
export type RoomNodes = Pick<StoredRoom, 'node' | 'branches'>

const none: readonly string[] = []

/** Returns the names of the nodes in the room's record, the primary node first; empty for a room without a node. */
export function nodesOfRoom({ node, branches = none }: RoomNodes): readonly string[] {
  return node === '' ? none : [node, ...branches.filter((name) => name !== node)]
}

/** Returns whether the node is a secondary node of the room. */
export function isSecondary({ node, branches = none }: RoomNodes, name: string): boolean {
  return node !== name && branches.includes(name)
}

/**
 * Returns the room's record with other nodes.
 * @param node empty: no node, and no secondary nodes
 */
export function onNodes(room: StoredRoom, node: string, branches: readonly string[] = none): StoredRoom {
  const { branches: _, ...rest } = room
  const kept = branches.filter((name) => name !== node)
  return node === '' || kept.length === 0 ? { ...rest, node } : { ...rest, node, branches: kept }
}

/** Returns whether both lists name the same nodes in the same order. */
export function sameNodes(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at])
}

/**
 * Index of the rooms of each node, by the store and by pending assignments. Counting and listing a node's rooms
 * therefore does not visit all rooms. A room counts on its primary node and on each secondary node. Rooms without a
 * node use no memory.
 */
export class RoomIndex {
  readonly #nodeOf = new Map<string, string>()
  /** All nodes of the rooms that have secondary nodes. */
  readonly #spread = new Map<string, readonly string[]>()
  readonly #rooms = new Map<string, Set<string>>()
  /** Nodes on which a room is about to be placed, and the number of such rooms of each node. */
  readonly #reserved = new Map<string, readonly string[]>()
  readonly #reservedCount = new Map<string, number>()

  /** Builds the index from the stored rooms; `set` keeps it up to date. */
  constructor(rooms: ReadonlyMap<string, StoredRoom>) {
    for (const [roomId, room] of rooms) this.set(roomId, room)
  }

  /** Returns the name of the room's primary node; empty if it has none. */
  nodeOf(roomId: string): string {
    return this.#nodeOf.get(roomId) ?? ''
  }

  /** Returns the names of the nodes that hold the room, the primary node first; empty if it has none. O(1). */
  nodesOf(roomId: string): readonly string[] {
    const spread = this.#spread.get(roomId)
    if (spread !== undefined) return spread
    const node = this.#nodeOf.get(roomId)
    return node === undefined ? none : [node]
  }

  /** Returns the number of rooms of the node. */
  count(node: string): number {
    return this.#rooms.get(node)?.size ?? 0
  }

  /** Returns the number of rooms that the node has or is about to have. */
  load(node: string): number {
    return this.count(node) + (this.#reservedCount.get(node) ?? 0)
  }

  /** Returns the names of the nodes on which the room is about to be placed. */
  reservedOn(roomId: string): readonly string[] {
    return this.#reserved.get(roomId) ?? none
  }

  /** Records that the room is about to be placed on that node, until `release`. */
  reserve(roomId: string, node: string): void {
    const nodes = this.reservedOn(roomId)
    if (nodes.includes(node)) return
    this.#reserved.set(roomId, [...nodes, node])
    this.#reservedCount.set(node, (this.#reservedCount.get(node) ?? 0) + 1)
  }

  /** Ends a reservation, whether the room was placed there or not. */
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

  /** Returns whether the node is a secondary node of the room. O(1). */
  isSecondary(roomId: string, node: string): boolean {
    return this.#spread.get(roomId)?.includes(node, 1) === true
  }

  /** Returns the rooms that have secondary nodes. */
  roomsOnSeveralNodes(): string[] {
    return [...this.#spread.keys()]
  }

  /**
   * Returns the rooms with secondary nodes that are on that node, as their primary or a secondary node. O(n) in rooms
   * with secondary nodes.
   */
  roomsWithSecondaryOn(node: string): string[] {
    return [...this.#spread].flatMap(([roomId, nodes]) => (nodes.includes(node) ? [roomId] : []))
  }

  /** Returns the rooms of the node, as a copy. */
  roomsOf(node: string): string[] {
    return [...(this.#rooms.get(node) ?? [])]
  }

  /** Stores the nodes of a room, and returns its previous nodes. If `room` is undefined, the room was deleted. */
  set(roomId: string, room: RoomNodes | undefined): readonly string[] {
    const before = this.nodesOf(roomId)
    const after = room === undefined ? none : nodesOfRoom(room)
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

/** So long people who asked for a room are waited for, in milliseconds: those who come come within seconds. */
const expectedMs = 30_000

/** Users of one room who are about to come to one node. */
interface Expectation {
  roomId: string
  node: string
  users: number
  until: number
}

/**
 * Users who are about to come to each node: those of rooms that were just put there. So rooms that are assigned in one burst are spread, however few users a node has at that
 * moment. Counts may be fractions. Every call is O(1) on average.
 */
export class ExpectedUsers {
  /** Expectations by room, and by room and node for secondary nodes, in the order in which they end. */
  readonly #rooms = new Map<string, Expectation>()
  readonly #nodes = new Map<string, { users: number; rooms: number }>()
  readonly #clock: () => number

  /** @param clock milliseconds that only grow */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** So many users are expected in that room, on its own node; replaces what was expected there. */
  expect(roomId: string, node: string, users: number): void {
    this.#expect(roomId, { roomId, node, users, until: 0 })
  }

  /** So many users are expected in that room, on a secondary node of it; replaces what was expected there. */
  expectAt(roomId: string, secondary: string, users: number): void {
    this.#expect(keyAt(roomId, secondary), { roomId, node: secondary, users, until: 0 })
  }

  /** Somebody came into the room on that node. */
  came(roomId: string, node: string): void {
    if (this.#rooms.size === 0) return
    const key = this.#rooms.get(roomId)?.node === node ? roomId : keyAt(roomId, node)
    const expectation = this.#rooms.get(key)
    if (expectation === undefined) return
    if (expectation.users <= 1) return this.#forget(key)
    expectation.users -= 1
    const load = this.#nodes.get(node)
    if (load !== undefined) load.users -= 1
  }

  /** Nobody is expected in the room on its own node any more. */
  forget(roomId: string): void {
    this.#forget(roomId)
  }

  /** Nobody is expected in the room on that secondary node any more. */
  forgetAt(roomId: string, secondary: string): void {
    this.#forget(keyAt(roomId, secondary))
  }

  /** Drops expectations that have run out. Call it before `on` is asked of many nodes. */
  expire(): void {
    const now = this.#clock()
    for (const [key, { until }] of this.#rooms) {
      if (until > now) return
      this.#forget(key)
    }
  }

  /** Rooms that users are expected in on the node, and how many. Walks all rooms that anybody is expected in. */
  roomsOn(node: string): { roomId: string; users: number }[] {
    this.expire()
    return [...this.#rooms.values()].flatMap(({ roomId, node: name, users }) =>
      name === node ? [{ roomId, users }] : [],
    )
  }

  /** Users who are expected in the room on its own node. O(1). */
  in(roomId: string): number {
    const room = this.#rooms.get(roomId)
    return room === undefined || room.until <= this.#clock() ? 0 : room.users
  }

  /** Users who are expected on the node. */
  on(node: string): number {
    return this.#nodes.get(node)?.users ?? 0
  }

  #expect(key: string, expectation: Expectation): void {
    this.#forget(key)
    const { node, users } = expectation
    if (users <= 0) return
    this.#rooms.set(key, { ...expectation, until: this.#clock() + expectedMs })
    const load = this.#nodes.get(node)
    if (load === undefined) this.#nodes.set(node, { users, rooms: 1 })
    else {
      load.users += users
      load.rooms += 1
    }
  }

  #forget(key: string): void {
    const expectation = this.#rooms.get(key)
    if (expectation === undefined) return
    this.#rooms.delete(key)
    const load = this.#nodes.get(expectation.node)
    if (load === undefined) return
    load.users -= expectation.users
    load.rooms -= 1
    if (load.rooms === 0) this.#nodes.delete(expectation.node)
  }
}

/** No room_id holds a line break. */
function keyAt(roomId: string, secondary: string): string {
  return `${roomId}\n${secondary}`
}

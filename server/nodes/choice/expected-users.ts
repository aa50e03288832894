/** So long people who asked for a room are waited for, in milliseconds: those who come come within seconds. */
const expectedMs = 30_000

/** Users of one room who are about to come. */
interface Expectation {
  node: string
  users: number
  until: number
}

/**
 * Users who are about to come to each node: those of rooms that were just put there. So rooms that are assigned in one burst are spread, however few users a node has at that
 * moment. Counts may be fractions. Every call is O(1) on average.
 */
export class ExpectedUsers {
  /** By room, in the order in which they end. */
  readonly #rooms = new Map<string, Expectation>()
  readonly #nodes = new Map<string, { users: number; rooms: number }>()
  readonly #clock: () => number

  /** @param clock milliseconds that only grow */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** So many users are expected in that room, on that node; replaces what was expected of it. */
  expect(roomId: string, node: string, users: number): void {
    this.forget(roomId)
    if (users <= 0) return
    this.#rooms.set(roomId, { node, users, until: this.#clock() + expectedMs })
    const load = this.#nodes.get(node)
    if (load === undefined) this.#nodes.set(node, { users, rooms: 1 })
    else {
      load.users += users
      load.rooms += 1
    }
  }

  /** Somebody came into the room. */
  came(roomId: string): void {
    const room = this.#rooms.get(roomId)
    if (room === undefined) return
    if (room.users <= 1) return this.forget(roomId)
    room.users -= 1
    const load = this.#nodes.get(room.node)
    if (load !== undefined) load.users -= 1
  }

  /** Nobody is expected in the room any more. */
  forget(roomId: string): void {
    const room = this.#rooms.get(roomId)
    if (room === undefined) return
    this.#rooms.delete(roomId)
    const load = this.#nodes.get(room.node)
    if (load === undefined) return
    load.users -= room.users
    load.rooms -= 1
    if (load.rooms === 0) this.#nodes.delete(room.node)
  }

  /** Who did not come in time is not expected any more. To be called before `on` is asked of many nodes. */
  expire(): void {
    const now = this.#clock()
    for (const [roomId, { until }] of this.#rooms) {
      if (until > now) return
      this.forget(roomId)
    }
  }

  /** Rooms that users are expected in on the node, and how many. Walks all rooms that anybody is expected in. */
  roomsOn(node: string): { roomId: string; users: number }[] {
    this.expire()
    return [...this.#rooms].flatMap(([roomId, room]) => (room.node === node ? [{ roomId, users: room.users }] : []))
  }

  /** Users who are expected in the room. O(1). */
  in(roomId: string): number {
    const room = this.#rooms.get(roomId)
    return room === undefined || room.until <= this.#clock() ? 0 : room.users
  }

  /** Users who are expected on the node. */
  on(node: string): number {
    return this.#nodes.get(node)?.users ?? 0
  }
}

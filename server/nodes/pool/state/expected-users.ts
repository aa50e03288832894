/** Time for which people who requested a room are expected, in milliseconds. They usually arrive within seconds. */
const expectedMs = 30_000

/** Users of one room who are expected on one node. */
interface Expectation {
  roomId: string
  node: string
  users: number
  until: number
}

/**
 * Users expected on each node, because their rooms were recently placed there. Rooms that are assigned in one burst are
 * therefore spread, even if the nodes have few users yet. Counts may be fractions. Every call is O(1) on average.
 */
export class ExpectedUsers {
  /** Expectations by room for primary nodes, and by room and node for secondary nodes, in the order of `until`. */
  readonly #rooms = new Map<string, Expectation>()
  readonly #nodes = new Map<string, { users: number; rooms: number }>()
  readonly #clock: () => number

  /** @param clock returns milliseconds of a monotonic clock */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Expects this number of users in the room on its primary node. Replaces an earlier expectation. */
  expect(roomId: string, node: string, users: number): void {
    this.#expect(roomId, { roomId, node, users, until: 0 })
  }

  /** Expects this number of users in the room on a secondary node. Replaces an earlier expectation. */
  expectAt(roomId: string, secondary: string, users: number): void {
    this.#expect(keyAt(roomId, secondary), { roomId, node: secondary, users, until: 0 })
  }

  /** Records that an expected user joined the room on the node. */
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

  /** Removes the expectation for the room on its primary node. */
  forget(roomId: string): void {
    this.#forget(roomId)
  }

  /** Removes the expectation for the room on that secondary node. */
  forgetAt(roomId: string, secondary: string): void {
    this.#forget(keyAt(roomId, secondary))
  }

  /** Removes expired expectations. Call it before calling `on` for many nodes. */
  expire(): void {
    const now = this.#clock()
    for (const [key, { until }] of this.#rooms) {
      if (until > now) return
      this.#forget(key)
    }
  }

  /** Returns the rooms with expected users on the node, and their numbers. O(n) in rooms with expected users. */
  roomsOn(node: string): { roomId: string; users: number }[] {
    this.expire()
    return [...this.#rooms.values()].flatMap(({ roomId, node: name, users }) =>
      name === node ? [{ roomId, users }] : [],
    )
  }

  /** Returns the number of users expected in the room on its primary node. O(1). */
  in(roomId: string): number {
    const room = this.#rooms.get(roomId)
    return room === undefined || room.until <= this.#clock() ? 0 : room.users
  }

  /** Returns the number of users expected on the node. */
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

/** Room ids contain no line break. */
function keyAt(roomId: string, secondary: string): string {
  return `${roomId}\n${secondary}`
}

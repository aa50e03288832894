/** Rooms in which a user is recorded, by user. */
export class TargetedUsers {
  readonly #rooms = new Map<string, Set<string>>()

  /** Rooms in which this user is recorded. */
  roomsOf(userId: string): Iterable<string> {
    return this.#rooms.get(userId) ?? []
  }

  /** Notes that a room records other users than before. */
  replace(roomId: string, before: readonly string[], after: readonly string[]): void {
    for (const userId of before) {
      const rooms = this.#rooms.get(userId)
      rooms?.delete(roomId)
      if (rooms?.size === 0) this.#rooms.delete(userId)
    }
    for (const userId of after) {
      const rooms = this.#rooms.get(userId)
      if (rooms === undefined) this.#rooms.set(userId, new Set([roomId]))
      else rooms.add(roomId)
    }
  }
}

/** Names that are kept: of those who came longest ago they are forgotten first. */
const most = 5_000

/** Names of people in rooms, kept for a while after they left: events show them. */
export class PeopleNames {
  readonly #names = new Map<string, string>()

  /** Somebody is in a room under this name. */
  note(roomId: string, userId: string, name: string): void {
    const key = keyOf(roomId, userId)
    this.#names.delete(key)
    this.#names.set(key, name)
    if (this.#names.size <= most) return
    for (const oldest of this.#names.keys()) {
      this.#names.delete(oldest)
      return
    }
  }

  /** Every name that is kept. */
  all(): string[] {
    return [...this.#names.values()]
  }

  /** The name of somebody in a room; empty when nobody knows it. */
  of(roomId: string, userId: string): string {
    return this.#names.get(keyOf(roomId, userId)) ?? ''
  }
}

const keyOf = (roomId: string, userId: string): string => JSON.stringify([roomId, userId])

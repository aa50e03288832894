/** Rooms of one node to be checked now, or after the node's next successful poll. */
export class RoomsToCheck {
  /** Rooms to be checked now, in the order of arrival. A room is in at most one of `#due` and `#afterPoll`. */
  readonly #due = new Set<string>()
  readonly #afterPoll = new Set<string>()

  get hasDue(): boolean {
    return this.#due.size > 0
  }

  /** Marks the room to be checked now. */
  markDue(roomId: string): void {
    this.#afterPoll.delete(roomId)
    this.#due.add(roomId)
  }

  /** Marks the room to be checked after the next successful poll, unless the room is already due. */
  markForPoll(roomId: string): void {
    if (!this.#due.has(roomId)) this.#afterPoll.add(roomId)
  }

  /** Makes all rooms due after a successful poll. */
  polled(): void {
    for (const roomId of this.#afterPoll) this.#due.add(roomId)
    this.#afterPoll.clear()
  }

  /** Removes and returns the next due room. */
  take(): string | undefined {
    const [next] = this.#due
    if (next !== undefined) this.#due.delete(next)
    return next
  }

  clear(): void {
    this.#due.clear()
    this.#afterPoll.clear()
  }
}

/** Rooms of one node to be checked now, or after the node's next successful poll. */
export class RoomsToCheck {
  /** In order of arrival. A room is in at most one of the two sets. */
  readonly #due = new Set<string>()
  readonly #afterPoll = new Set<string>()

  get hasDue(): boolean {
    return this.#due.size > 0
  }

  /** Checks the room now. */
  markDue(roomId: string): void {
    this.#afterPoll.delete(roomId)
    this.#due.add(roomId)
  }

  /** Checks the room after the next successful poll, unless it is due already. */
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

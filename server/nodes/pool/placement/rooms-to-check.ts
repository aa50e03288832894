/** Rooms of one node that are to be checked: each is due now, or after the node's next good poll, or neither. */
export class RoomsToCheck {
  /** In order of arrival; no room is in both. */
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

  /** Checks the room after the next good poll, unless it is due anyway. */
  markForPoll(roomId: string): void {
    if (!this.#due.has(roomId)) this.#afterPoll.add(roomId)
  }

  /** The node answered a poll: everything is due. */
  polled(): void {
    for (const roomId of this.#afterPoll) this.#due.add(roomId)
    this.#afterPoll.clear()
  }

  /** Takes out the next room that is due. */
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

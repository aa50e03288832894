/** A position in the queues of some locks. */
export class Ticket {
  /** Number of this ticket's locks that earlier tickets still hold or wait for. */
  blockers = 0
  /** Later tickets that wait for this ticket. */
  followers: Ticket[] | undefined
  readonly locks: readonly string[]
  readonly start: () => void

  constructor(locks: readonly string[], start: () => void) {
    this.locks = locks
    this.start = start
  }
}

/**
 * Named locks, first come, first served for each name. A ticket joins the queues of all its locks at once, so there are
 * no deadlocks. A free lock costs one map entry.
 */
export class LockTable {
  /** The last ticket in the queue of each lock that is held. */
  readonly #tails = new Map<string, Ticket>()
  /** Tickets that may start. */
  readonly #ready: Ticket[] = []
  #draining = false

  /**
   * Calls `ticket.start` when the ticket holds all its locks, at once if they are free. The ticket must be released
   * afterwards.
   */
  take(ticket: Ticket): void {
    for (const lock of ticket.locks) {
      const before = this.#tails.get(lock)
      if (before === ticket) continue
      if (before !== undefined) {
        ticket.blockers++
        if (before.followers === undefined) before.followers = [ticket]
        else before.followers.push(ticket)
      }
      this.#tails.set(lock, ticket)
    }
    if (ticket.blockers === 0) ticket.start()
  }

  /** Releases the locks of a ticket, and starts the tickets that waited only for these locks. */
  release(ticket: Ticket): void {
    for (const lock of ticket.locks) if (this.#tails.get(lock) === ticket) this.#tails.delete(lock)
    const followers = ticket.followers
    if (followers === undefined) return
    ticket.followers = undefined
    for (const follower of followers) if (--follower.blockers === 0) this.#ready.push(follower)
    // A started ticket may release itself at once. A loop instead of recursion limits the stack depth.
    if (this.#draining) return
    this.#draining = true
    try {
      for (let next = this.#ready.shift(); next !== undefined; next = this.#ready.shift()) next.start()
    } finally {
      this.#draining = false
    }
  }
}

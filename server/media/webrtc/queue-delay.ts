/** Length of a window in milliseconds: the shortest round trip of this one and the one before is that of the link without a queue. */
const windowMs = 10_000

/** Delay of packets in a link's queue, by how much longer round trips are than the shortest of late. Times are milliseconds of a clock that never goes back. */
export class QueueDelay {
  #shortest = Infinity
  #shortestBefore = Infinity
  #windowAt = 0
  #last = 0
  #before = 0
  /** Number of round trips so far. */
  readings = 0

  /**
   * Takes a round trip, each once.
   * @param late the program was late itself: the round trip bounds the shortest one and says nothing of a queue
   */
  onRoundTrip(roundTrip: number, now: number, late = false): void {
    if (now - this.#windowAt > windowMs) {
      this.#shortestBefore = this.#shortest
      this.#shortest = Infinity
      this.#windowAt = now
    }
    this.#shortest = Math.min(this.#shortest, roundTrip)
    if (late) return
    this.#before = this.readings === 0 ? roundTrip : this.#last
    this.#last = roundTrip
    this.readings += 1
  }

  /** Delay by the last round trip, in milliseconds; 0 before the first. */
  get latest(): number {
    return this.readings === 0 ? 0 : this.#last - this.#base
  }

  /** Delay by the last two, in milliseconds: one alone may have been late by chance. */
  get ms(): number {
    return this.readings === 0 ? 0 : Math.min(this.#last, this.#before) - this.#base
  }

  /** Forgets all round trips when the viewer moves to another network. */
  forget(): void {
    this.readings = 0
    this.#shortest = Infinity
    this.#shortestBefore = Infinity
  }

  get #base(): number {
    return Math.min(this.#shortest, this.#shortestBefore)
  }
}

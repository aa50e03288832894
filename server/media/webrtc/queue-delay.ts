/** The shortest round trip of so many milliseconds, and of as many before, is that of the way without a queue. */
const windowMs = 10_000

/** How long packets wait in a link's queue: by how much longer round trips are than the shortest of late. Times are milliseconds of a clock that never goes back. */
export class QueueDelay {
  #shortest = Infinity
  #shortestBefore = Infinity
  #windowAt = 0
  #last = 0
  #before = 0
  /** Round trips that were measured. */
  readings = 0

  /**
   * A round trip was measured, each once.
   * @param late the program was late itself: the way may be shorter than it seems and is not longer; of a queue it says nothing
   */
  heard(roundTrip: number, now: number, late = false): void {
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

  /** By the last round trip, in milliseconds; 0 before one was measured. */
  get latest(): number {
    return this.readings === 0 ? 0 : this.#last - this.#base
  }

  /** By the last two: one alone may have been late by chance. */
  get ms(): number {
    return this.readings === 0 ? 0 : Math.min(this.#last, this.#before) - this.#base
  }

  /** The viewer is on another network: what was measured says nothing of it. */
  forget(): void {
    this.readings = 0
    this.#shortest = Infinity
    this.#shortestBefore = Infinity
  }

  get #base(): number {
    return Math.min(this.#shortest, this.#shortestBefore)
  }
}

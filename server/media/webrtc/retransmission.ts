/** Bytes that may be sent again for one that was sent the first time. */
const share = 0.25
/** Bytes that may be sent again at once: so many, or what a second's share is where that is more. */
const minAtOnce = 32 * 1024
/** Milliseconds of a round trip before one was measured, and at least: a receiver asks again after some 20 ms. */
const unmeasured = 50
const shortest = 10
/** Nobody asks for a packet again so long after it was sent again, in milliseconds. */
const forgottenMs = 5_000
/** Packets whose sending is remembered. */
const maxRemembered = 2_048

/** Which packets a viewer is sent again: each once in a round trip, and all together no more than a quarter of what it is sent anyway. */
export class Retransmission {
  /** When each was sent again, by its number as the viewer knows it; the longest ago first. */
  readonly #sentAt = new Map<number, number>()
  #roundTrip = unmeasured
  #allowance = 0
  #sentThisSecond = 0
  #atOnce = minAtOnce

  /** Milliseconds, as just measured. */
  set roundTrip(milliseconds: number) {
    this.#roundTrip = Math.max(shortest, milliseconds)
  }

  /** Handles a receiver's move to another network: packets under way are lost there, which does not mean a small link, and are sent again at once. */
  moved(): void {
    this.#allowance = Math.max(this.#allowance, this.#atOnce)
  }

  /** Bytes were sent the first time. */
  sent(bytes: number): void {
    this.#sentThisSecond += bytes
    this.#allowance = Math.min(this.#atOnce, this.#allowance + bytes * share)
  }

  /**
   * Whether a packet is to be sent again now. Where it says so, it counts as sent.
   * @param now milliseconds of a clock that never goes back
   */
  allows(sequence: number, bytes: number, now: number): boolean {
    const before = this.#sentAt.get(sequence)
    if (bytes > this.#allowance || (before !== undefined && now - before < this.#roundTrip)) return false
    this.#allowance -= bytes
    this.#sentAt.delete(sequence)
    this.#sentAt.set(sequence, now)
    if (this.#sentAt.size > maxRemembered) {
      const [oldest = -1] = this.#sentAt.keys()
      this.#sentAt.delete(oldest)
    }
    return true
  }

  /** Once a second. */
  tick(now: number): void {
    this.#atOnce = Math.max(minAtOnce, this.#sentThisSecond * share)
    this.#sentThisSecond = 0
    for (const [sequence, at] of this.#sentAt) {
      if (now - at < forgottenMs) return
      this.#sentAt.delete(sequence)
    }
  }
}

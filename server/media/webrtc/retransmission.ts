/** Bytes that may be sent again per byte sent the first time. */
const share = 0.25
/**
 * Minimum of the limit on bytes that may be sent again at once. The limit is `share` times the bytes of the last
 * second.
 */
const minAtOnce = 32 * 1024
/**
 * Round trip assumed before the first measurement, and minimum round trip, in milliseconds. A receiver repeats a
 * request after about 20 ms.
 */
const unmeasured = 50
const shortest = 10
/** Age of a repeat, in milliseconds, after which no receiver requests the packet again. */
const forgottenMs = 5_000
/** Maximum number of repeated packets that are tracked. */
const maxRemembered = 2_048

/**
 * Decides which packets are sent again to a viewer: each at most once per round trip, and in total at most a quarter of
 * the regular traffic.
 */
export class Retransmission {
  /** Time of the last repeat, by the viewer's packet number; least recent first. */
  readonly #sentAt = new Map<number, number>()
  #roundTrip = unmeasured
  #allowance = 0
  #sentThisSecond = 0
  #atOnce = minAtOnce

  /** Latest measured round trip, in milliseconds. */
  set roundTrip(milliseconds: number) {
    this.#roundTrip = Math.max(shortest, milliseconds)
  }

  /**
   * Allows repeats at once after a receiver moved to another network. Packets under way are lost by the move, which
   * does not indicate a small link.
   */
  moved(): void {
    this.#allowance = Math.max(this.#allowance, this.#atOnce)
  }

  /** Counts bytes sent the first time. */
  sent(bytes: number): void {
    this.#sentThisSecond += bytes
    this.#allowance = Math.min(this.#atOnce, this.#allowance + bytes * share)
  }

  /**
   * Returns whether a packet may be sent again now. If so, it counts as sent.
   * @param now milliseconds of a monotonic clock
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

  /** Updates the allowance and drops old entries. Called once a second. */
  tick(now: number): void {
    this.#atOnce = Math.max(minAtOnce, this.#sentThisSecond * share)
    this.#sentThisSecond = 0
    for (const [sequence, at] of this.#sentAt) {
      if (now - at < forgottenMs) return
      this.#sentAt.delete(sequence)
    }
  }
}

/** Distance of a timestamp from the clock after which it counts as restarted, in milliseconds: a camera that restarted, or whose clock was set. */
const maxOff = 5_000

/** The times of a track that never jump, whatever its timestamps do: milliseconds since its first packet. */
export class SourceClock {
  readonly #ticksPerMs: number
  #timestamp = -1
  #first = 0
  /** Ticks of the last packet. */
  #ticks = 0
  #arrivedAt = 0

  /** @param rate of the timestamps, in Hz */
  constructor(rate: number) {
    this.#ticksPerMs = rate / 1_000
  }

  /**
   * A packet came. Returns whether its timestamp jumped: others of before are of another time.
   * @param now milliseconds of a clock that never goes back
   */
  note(timestamp: number, now: number): boolean {
    let jumped = false
    if (this.#timestamp >= 0) {
      const elapsed = (now - this.#arrivedAt) * this.#ticksPerMs
      const ahead = (timestamp - this.#timestamp) | 0
      jumped = Math.abs(ahead - elapsed) > maxOff * this.#ticksPerMs
      this.#ticks += jumped ? Math.max(1, Math.round(elapsed)) : ahead
    }
    if (this.#timestamp < 0) this.#first = timestamp
    this.#timestamp = timestamp
    this.#arrivedAt = now
    return jumped
  }

  /** Timestamp of its first packet. */
  get first(): number {
    return this.#first
  }

  /** Moment at which a time of the track came, or will come, by that of its last packet; of the clock of `note`. */
  arrivalOf(at: number): number {
    return this.#arrivedAt + at - this.#ticks / this.#ticksPerMs
  }

  /** The time of a timestamp that is near the last one. */
  at(timestamp: number): number {
    return (this.#ticks + ((timestamp - this.#timestamp) | 0)) / this.#ticksPerMs
  }
}

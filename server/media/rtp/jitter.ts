/** Interarrival jitter of one stream (RFC 3550, appendix A.8). */
export class Jitter {
  readonly #clockRate: number
  #transit = 0
  /** In ticks of the stream's clock. */
  ticks = 0

  /** @param clockRate of the timestamps, in Hz */
  constructor(clockRate: number) {
    this.#clockRate = clockRate
  }

  /** @param now arrival of the packet, in milliseconds */
  note(timestamp: number, now: number): void {
    const transit = (now * this.#clockRate) / 1000 - timestamp
    const difference = Math.abs(transit - this.#transit)
    this.#transit = transit
    if (difference < this.#clockRate) this.ticks += (difference - this.ticks) / 16
  }
}

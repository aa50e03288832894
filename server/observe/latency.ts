/** A histogram of milliseconds for percentiles: eight classes per doubling, from 10 µs to about a minute, so it is right within 9 %. */
export class LatencyHistogram {
  readonly #counts = new Uint32Array(184)
  #total = 0

  /** Counts one. O(1). */
  add(milliseconds: number): void {
    const index = milliseconds <= 0.01 ? 0 : Math.min(183, (Math.log2(milliseconds * 100) * 8) | 0)
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#total++
  }

  /** The time that this share (0 to 1) stayed within, in milliseconds; 0 when nothing was counted. */
  percentile(share: number): number {
    let left = Math.ceil(this.#total * share)
    if (this.#total === 0) return 0
    for (const [index, count] of this.#counts.entries()) {
      left -= count
      if (left <= 0) return Math.round(2 ** ((index + 1) / 8) * 10) / 1000
    }
    return 0
  }

  /** Starts again at zero. */
  clear(): void {
    this.#counts.fill(0)
    this.#total = 0
  }
}

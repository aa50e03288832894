/** Length of a window in milliseconds, and number of windows. */
const windowMs = 1_000
const windows = 3

/** Measures the bitrate of a stream, in bits per second. */
export class Rate {
  readonly #seconds: number[] = Array.from({ length: windows }, () => 0)
  #next = 0
  #bytes = 0
  #since = -1
  /** Highest rate of the last three windows; 0 during the first window. */
  peak = 0

  /** @param now milliseconds since the epoch */
  add(bytes: number, now: number): void {
    const elapsed = now - this.#since
    if (elapsed >= windowMs) this.#turn(elapsed, now)
    this.#bytes += bytes
  }

  #turn(elapsed: number, now: number): void {
    if (this.#since >= 0) {
      this.#seconds[this.#next] = (this.#bytes * 8_000) / elapsed
      this.#next = (this.#next + 1) % windows
      this.peak = Math.max(...this.#seconds)
    }
    this.#bytes = 0
    this.#since = now
  }
}

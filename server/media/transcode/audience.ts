/** Number of viewers, and the wait for more after the last one left. */
export class Audience {
  readonly #deserted: () => void
  #linger: NodeJS.Timeout | undefined
  size = 0

  /** @param deserted called when nobody has come back in time */
  constructor(deserted: () => void) {
    this.#deserted = deserted
  }

  /** Counts a viewer. */
  join(): void {
    this.endWait()
    this.size += 1
  }

  /**
   * Takes a viewer off the count.
   * @param lingerMs wait for others after the last one, in milliseconds; 0: none
   */
  leave(lingerMs: number): void {
    this.size -= 1
    if (this.size > 0) return
    if (lingerMs === 0) this.#deserted()
    else this.#linger = setTimeout(this.#deserted, lingerMs).unref()
  }

  /** Ends the wait for others. */
  endWait(): void {
    clearTimeout(this.#linger)
  }
}

/**
 * Queue of work that comes in crowds: each piece gets a turn of the event loop, so that the controller's requests, packets and timers are handled between two of them.
 * First come, first served.
 */
export class OfferQueue {
  readonly #waiting: (() => void)[] = []
  #giving = false

  /** Resolves at the start of the caller's turn, which lasts until the caller waits. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#arm()
    })
  }

  #arm(): void {
    if (this.#giving) return
    this.#giving = true
    // Called from another immediate, it runs in the next turn.
    setImmediate(() => {
      this.#giving = false
      this.#waiting.shift()?.()
      if (this.#waiting.length > 0) this.#arm()
    })
  }
}

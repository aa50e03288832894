/**
 * Queue of work that comes in bursts. Each item gets its own event loop turn, so that the controller's requests,
 * packets and timers are handled in between. First in, first out.
 */
export class OfferQueue {
  readonly #waiting: (() => void)[] = []
  #giving = false

  /** Resolves at the start of the caller's turn, which lasts until the caller awaits. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#arm()
    })
  }

  #arm(): void {
    if (this.#giving) return
    this.#giving = true
    // An immediate scheduled inside another immediate runs in the next turn.
    setImmediate(() => {
      this.#giving = false
      this.#waiting.shift()?.()
      if (this.#waiting.length > 0) this.#arm()
    })
  }
}

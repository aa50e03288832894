/**
 * Work that comes in crowds gets a turn of the event loop for each piece: what else has come meanwhile (the controller's requests, packets, timers) is looked at
 * between two of them. First come, first served.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #giving = false

  /** Resolves when it is one's turn: what is done then without waiting is done in it. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#arm()
    })
  }

  #arm(): void {
    if (this.#giving) return
    this.#giving = true
    // Within a callback of another it is of the next turn.
    setImmediate(() => {
      this.#giving = false
      this.#waiting.shift()?.()
      if (this.#waiting.length > 0) this.#arm()
    })
  }
}

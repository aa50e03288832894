/** Does work piece by piece, each in a turn of the event loop of its own, so that packets pass between them: files of many cameras want to write at the same moment. */
export class LoopTurns {
  readonly #waiting = new Set<() => void>()
  #isDue = false

  /** Runs this once in a turn to come, after all that waits already. It must not throw. */
  add(work: () => void): void {
    this.#waiting.add(work)
    this.#schedule()
  }

  /** Does not run this any more. */
  remove(work: () => void): void {
    this.#waiting.delete(work)
  }

  /** Resolves in a turn to come. */
  next(): Promise<void> {
    return new Promise((resolve) => this.add(resolve))
  }

  #schedule(): void {
    if (this.#isDue || this.#waiting.size === 0) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      const [first] = this.#waiting
      if (first !== undefined) {
        this.#waiting.delete(first)
        first()
      }
      this.#schedule()
    })
  }
}

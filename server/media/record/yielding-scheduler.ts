/**
 * Runs work items in separate event loop turns, so that packets are handled in between: files of many cameras may write
 * at the same moment.
 */
export class YieldingScheduler {
  readonly #waiting = new Set<() => void>()
  #isDue = false

  /** Runs a function once in a later turn, after all functions added before. `work` must not throw. */
  add(work: () => void): void {
    this.#waiting.add(work)
    this.#schedule()
  }

  /** Removes a function that has not run yet. */
  remove(work: () => void): void {
    this.#waiting.delete(work)
  }

  /** Resolves in a later turn. */
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

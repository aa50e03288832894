/** Lets so many joins through at once; the others wait in the order they came. */
export class AttemptGate {
  readonly #width: number
  readonly #waiting = new Set<() => void>()
  #inside = 0

  constructor(width: number) {
    this.#width = width
  }

  /** Runs `task` when it is its turn. One whose signal aborts while it waits never runs: it rejects with the signal's reason. */
  async pass(signal: AbortSignal, task: () => Promise<void>): Promise<void> {
    await this.#enter(signal)
    try {
      await task()
    } finally {
      this.#leave()
    }
  }

  #enter(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason)
    if (this.#inside < this.#width) {
      this.#inside += 1
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = (): void => {
        this.#waiting.delete(admit)
        reject(signal.reason)
      }
      this.#waiting.add(admit)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Gives the place to who has waited longest. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#inside -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}

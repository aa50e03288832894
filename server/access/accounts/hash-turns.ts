/** Too many wait already. */
export class TooManyWaitingError extends Error {
  override readonly name = 'TooManyWaitingError'
}

/**
 * Lets so many run at once and so many wait: a hash occupies a thread of the pool that files and names are read with, and tens of
 * megabytes, for a good while.
 */
export class HashTurns {
  readonly #most: number
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(most = 2, maxWaiting = 32) {
    this.#most = most
    this.#maxWaiting = maxWaiting
  }

  /** @throws TooManyWaitingError at once, else what `job` throws */
  async run<T>(job: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) {
      if (this.#waiting.length >= this.#maxWaiting)
        throw new TooManyWaitingError('too many passwords wait to be hashed')
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running++
    try {
      return await job()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}

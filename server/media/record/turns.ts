/** Runs operations in order, so many at a time. */
export class Turns {
  readonly #limit: number
  readonly #queue: (() => void)[] = []
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  async run<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#queue.push(resolve))
    else this.#running += 1
    try {
      return await operation()
    } finally {
      const next = this.#queue.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}

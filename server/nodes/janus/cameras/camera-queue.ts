import { unlessAborted } from '../../port/deadline.ts'

/** What concerns one thing happens one after the other, in the order it was asked for; different things do not wait for each other. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs when everything before it of this key has ended. @throws the signal's reason when it aborts meanwhile; what `run` throws */
  async take<T>(key: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const done = Promise.withResolvers<void>()
    const turn = before.then(() => done.promise)
    this.#last.set(key, turn)
    void turn.then(() => {
      if (this.#last.get(key) === turn) this.#last.delete(key)
    })
    try {
      await unlessAborted(before, signal)
      return await run()
    } finally {
      done.resolve()
    }
  }

  /** Resolves when everything that was asked for has ended. */
  async settled(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values())
  }
}

import { unlessAborted } from '../../../../shared/abort.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'

/** Queues by key: work of one key runs one after the other, in the order of the calls; different keys do not wait for each other. */
export class CameraQueue {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs the work once everything before it of this key has ended. @throws the signal's reason when it aborts meanwhile; what `run` throws */
  async take<T>(key: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const done = Promise.withResolvers<void>()
    const turn = before.then(() => done.promise)
    this.#last.set(key, turn)
    const forgotten = turn.then(() => {
      if (this.#last.get(key) === turn) this.#last.delete(key)
    })
    mustNotFail(forgotten)
    try {
      await unlessAborted(before, signal)
      return await run()
    } finally {
      done.resolve()
    }
  }

  /** Resolves when all queued work has ended. */
  async settled(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values())
  }
}

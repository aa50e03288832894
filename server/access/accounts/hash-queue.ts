import PQueue from 'p-queue'

/** Too many hashes wait already. */
export class TooManyWaitingError extends Error {
  override readonly name = 'TooManyWaitingError'
}

/** A hash occupies a thread of the pool that also reads files and resolves names, and tens of megabytes. */
const concurrency = 2
const maxWaiting = 32

/** Limits how many passwords are hashed at the same time, and how many wait for it. */
export class HashQueue {
  readonly #queue = new PQueue({ concurrency })

  /** @throws TooManyWaitingError at once, else what `job` throws */
  async run<T>(job: () => Promise<T>): Promise<Awaited<T>> {
    if (this.#queue.size >= maxWaiting) throw new TooManyWaitingError('too many passwords wait to be hashed')
    return await this.#queue.add(job)
  }
}

import { ApiError } from '../../../../shared/result-codes.ts'

/**
 * This controller no longer manages the nodes. A call that fails with this error has stored nothing, so the call can be
 * sent to the current leader.
 */
export class PoolEndedError extends Error {
  override readonly name = 'PoolEndedError'
}

/** Returns the error for a call of a stopped pool, with the reason as its cause. */
export function endedWith(error: unknown): ApiError {
  if (error instanceof ApiError && error.cause instanceof PoolEndedError) return error
  const ended = new PoolEndedError('this controller no longer manages the nodes', { cause: error })
  if (!(error instanceof ApiError)) return new ApiError('nodeOffline', { cause: ended })
  return error.withCause(ended)
}

/** Records whether this controller still manages the nodes. */
export class PoolLifetime {
  #ended = false

  /** Makes failed calls reject with the cause PoolEndedError from now on. */
  end(): void {
    this.#ended = true
  }

  /** @throws ApiError nodeOffline after `end` */
  check(): void {
    if (this.#ended) throw endedWith(undefined)
  }

  /**
   * Returns the result of the call. If the call fails after the pool has ended, the error has the cause PoolEndedError.
   */
  async orEnded<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      throw this.#ended ? endedWith(error) : error
    }
  }
}

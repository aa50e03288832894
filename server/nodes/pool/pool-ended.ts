import { ApiError } from '../../../shared/result-codes.ts'

/**
 * This controller no longer manages the nodes. No call that fails with this error has stored anything, so it can be
 * sent to the current leader.
 */
export class PoolEndedError extends Error {
  override readonly name = 'PoolEndedError'
}

/** Returns the error for a call of a stopped pool, with the reason as its cause. */
export function endedWith(error: unknown): ApiError {
  const ended = new PoolEndedError('the nodes are not this controller’s any more', { cause: error })
  if (!(error instanceof ApiError)) return new ApiError('nodeOffline', { cause: ended })
  return error.withCause(ended)
}

import { ApiError } from '../../../shared/result-codes.ts'

/** The nodes are no longer this controller's. Nothing that was asked of them here is stored: who leads now can be asked. */
export class PoolEndedError extends Error {
  override readonly name = 'PoolEndedError'
}

/** Answer to a call of a pool that has ended: its own error, with the reason of the end. */
export function endedWith(error: unknown): ApiError {
  const ended = new PoolEndedError('the nodes are not this controller’s any more', { cause: error })
  if (!(error instanceof ApiError)) return new ApiError('nodeOffline', { cause: ended })
  return error.withCause(ended)
}

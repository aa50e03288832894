import { ApiError } from '../../../shared/result-codes.ts'

/** The nodes are no longer this controller's. Nothing that was asked of them here is stored: who leads now can be asked. */
export class PoolEndedError extends Error {
  override readonly name = 'PoolEndedError'
}

/** What a call of a pool that has ended is answered with: its own error, and why it came to that. */
export function endedWith(error: unknown): ApiError {
  const ended = new PoolEndedError('the nodes are not this controller’s any more', { cause: error })
  if (!(error instanceof ApiError)) return new ApiError('nodeOffline', { cause: ended })
  const { code, message, reason } = error
  return new ApiError(code, { message, ...(reason === undefined ? {} : { reason }), cause: ended })
}

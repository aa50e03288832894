import { ApiError } from '../../shared/result-codes.ts'

/** Message of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The error that callers of the store know. */
export function storageError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('storage', { reason: reasonOf(error), cause: error })
}

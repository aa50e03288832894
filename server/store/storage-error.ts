import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'

/**
 * Thrown when the storage cannot determine whether lines were stored. Such lines must not be reported as not stored.
 */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError'
}

/** Returns the message of an error. */
export function storageReasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the error for a change that is definitely not stored, now or later. */
export function notStored(reason: string, cause?: unknown): ApiError {
  return new ApiError('storage', { refusal: refusal('storage'), reason, cause })
}

/** Returns the error for a change that the storage received but did not confirm: it may be stored now or later. */
export function outcomeUnknown(reason: string, cause?: unknown): ApiError {
  return new ApiError('storage', { refusal: refusal('outcomeUnknown'), reason, cause })
}

/**
 * Returns the error for lines that the storage rejected. By contract none of them is stored, except after an
 * OutcomeUnknownError.
 */
export function refusedError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const reason = storageReasonOf(error)
  return error instanceof OutcomeUnknownError ? outcomeUnknown(reason, error) : notStored(reason, error)
}

/** Returns the error for any other failure of the disk or the database: how much was done is unknown. */
export function storageError(error: unknown): ApiError {
  return error instanceof ApiError ? error : outcomeUnknown(storageReasonOf(error), error)
}

/** Whether a change may have been stored, or may be stored later. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.refusal?.name === 'outcomeUnknown'
}

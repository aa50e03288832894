import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'

/** The storage cannot determine whether lines were stored: nobody may claim that they were not. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError'
}

/** Message of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Refuses a change of which certainly nothing is stored, now or later. */
export function notStored(reason: string, cause?: unknown): ApiError {
  return new ApiError('storage', { refusal: refusal('storage'), reason, cause })
}

/** Reports a change that may have been stored, or may be stored later: the store was given it, and has not confirmed it. */
export function outcomeUnknown(reason: string, cause?: unknown): ApiError {
  return new ApiError('storage', { refusal: refusal('outcomeUnknown'), reason, cause })
}

/** The error of lines that the storage has rejected. By its contract none of them counts, except after an OutcomeUnknownError. */
export function refusedError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const reason = reasonOf(error)
  return error instanceof OutcomeUnknownError ? outcomeUnknown(reason, error) : notStored(reason, error)
}

/** The error of anything else that failed with the disk or the database: where it stopped is not known. */
export function storageError(error: unknown): ApiError {
  return error instanceof ApiError ? error : outcomeUnknown(reasonOf(error), error)
}

/** Whether a change may have been stored, or may be stored later. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.refusal?.name === 'outcomeUnknown'
}

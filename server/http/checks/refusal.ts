import type { ErrorName } from '../../../shared/result-codes.ts'

/** Refusal of a check. */
export interface Refusal {
  error: ErrorName
  /** Left out: the error's own. */
  message?: string
  /** For the operator only. */
  reason?: string
}

import type { ErrorName } from '../../../shared/result-codes.ts'

/** What a check found wrong. */
export interface Refusal {
  error: ErrorName
  /** Left out: the error's own. */
  message?: string
  /** For the operator only. */
  reason?: string
}

import type { Context } from 'koa'
import type { EditConflict } from '../../shared/domain/edit-conflict.ts'
import { RefusalError, type ConsoleRefusal, type FieldProblem, problemAt } from '../../shared/domain/outcome.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import type { ConsoleErrorCode } from '../../shared/refusals/template.ts'
import { ApiError } from '../../shared/result-codes.ts'

type RefusedResult = { ok: false; error: ConsoleRefusal }

export const httpStatusOf: Readonly<Record<ConsoleErrorCode, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  // Misdirected Request (RFC 9110, section 15.5.20).
  standby: 421,
  failed: 502,
  internal: 500,
}

/** Returns the result of a refused call. */
export function refused(
  { code, message, name, values }: Refusal,
  problems: readonly FieldProblem[] = [],
  conflict?: EditConflict,
): RefusedResult {
  const further = {
    ...(problems.length === 0 ? {} : { problems: [...problems] }),
    ...(conflict === undefined ? {} : { conflict }),
  }
  return { ok: false, error: { code, message, ...further, name, values } }
}

/** Returns the result of a call that failed with a named error; undefined for any other error. */
export function resultOfError(error: unknown): RefusedResult | undefined {
  if (error instanceof RefusalError) return refused(error.refusal, error.problems, error.conflict)
  if (!(error instanceof ApiError)) return undefined
  const { refusal, field, complaint } = error
  return refused(refusal, field === undefined ? [] : [problemAt(field, complaint ?? refusal)])
}

/** Responds with a refusal. */
export function fail(context: Context, refusal: Refusal): void {
  context.status = httpStatusOf[refusal.code]
  context.body = refused(refusal)
}

/** Responds that too many wrong secrets were sent from the client's address. @param retryAfter seconds */
export function failUntil(context: Context, retryAfter: number, name: 'tooManyKeys' | 'tooManySignIns'): void {
  context.status = 429
  context.set('Retry-After', String(retryAfter))
  context.body = { ...refused(refusal(name, { seconds: retryAfter })), retry_after: retryAfter }
}

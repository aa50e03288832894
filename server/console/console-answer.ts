import type { Context } from 'koa'
import type { ConsoleErrorCode, ConsoleResult } from '../../shared/console/procedure.ts'

/** HTTP status of a refusal. */
export const statusOf: Readonly<Record<ConsoleErrorCode, number>> = {
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

export function refusal(code: ConsoleErrorCode, message: string): ConsoleResult<never> {
  return { ok: false, error: { code, message } }
}

/** Answers a refusal. */
export function fail(context: Context, code: ConsoleErrorCode, message: string): void {
  context.status = statusOf[code]
  context.body = refusal(code, message)
}

/** Answers that too many wrong secrets came from there. @param retryAfter seconds */
export function failUntil(context: Context, retryAfter: number, what: string): void {
  const message = `Too many wrong ${what}: try again in ${retryAfter} s.`
  context.status = 429
  context.set('Retry-After', String(retryAfter))
  context.body = { ...refusal('unauthorized', message), retry_after: retryAfter }
}

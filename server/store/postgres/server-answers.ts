import { DatabaseError as ServerError } from 'pg'
import { errorCode } from '../../../shared/error-code.ts'

/** SQLSTATE of a server that ends, starts or crashes, or a connection that it cuts (class 57P, 08): what it was doing may be done. */
const cut = /^(?:57P|08)/
/** It stores nothing: it follows another server (read_only_sql_transaction). */
const readOnly = '25006'

/**
 * Whether the server reported that a statement was not executed, and goes on: then nothing of it is stored.
 * After any other error, above all a lost connection, the outcome is open.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof ServerError)) return false
  const { severity, code = '' } = error
  return severity === 'ERROR' && !cut.test(code) && code !== readOnly
}

/** Whether the server has answered with an error. */
export function isOfServer(error: unknown): error is ServerError {
  return error instanceof ServerError
}

/** Whether the server says that its user may not do that (insufficient_privilege), or has no schema to do it in. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ServerError && (error.code === '42501' || error.code === '3F000')
}

/** Whether another connection holds what the statement needs, for longer than it was to wait (lock_not_available). */
export function isLocked(error: unknown): boolean {
  return error instanceof ServerError && error.code === '55P03'
}

/** Message of the server or the network, without secrets. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  return error.message === '' ? errorCode(error) : error.message
}

/** A server answers, but its configuration does not permit a site. */
export class UnusableServerError extends Error {
  override readonly name = 'UnusableServerError'
  /** Remedy in one sentence, in the imperative. */
  readonly mend: string

  constructor(message: string, mend: string) {
    super(message)
    this.mend = mend
  }
}

/** Remedies for a database that cannot be used, by the SQLSTATE that it or a pool before it answers (PostgreSQL documentation, appendix A). */
const mends: readonly (readonly [pattern: RegExp, mend: string])[] = [
  [/^53300$/, 'end other connections to it, or raise its limit: each controller needs up to six.'],
  [/^28/, 'correct its user or password in the address (--store), or pg_hba.conf of the server.'],
  [/^3D000$/, 'create it (createdb), or correct the address (--store).'],
  [/^57P03$/, 'wait until the server has started.'],
  [/^53100$/, 'make room on its disk.'],
  [/^57014$/, 'let its statements take longer (alter role … set statement_timeout = 0).'],
  [
    /^(?:26000|42P05)$/,
    'the pool before it must keep sessions (PgBouncer: pool_mode = session), or name the server itself (--store).',
  ],
]

/** Remedy for a database that cannot be used, in one sentence. */
export function mendOf(error: unknown): string {
  if (error instanceof UnusableServerError) return error.mend
  const code = error instanceof ServerError ? (error.code ?? '') : ''
  const found = mends.find(([pattern]) => pattern.test(code))
  if (found !== undefined) return found[1]
  return code === ''
    ? 'start PostgreSQL, or correct the address (--store).'
    : 'correct that in the database, for its user, or in the address (--store).'
}

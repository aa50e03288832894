import { DatabaseError as ServerError } from 'pg'
import { errorCode } from '../../../shared/error-code.ts'

/**
 * SQLSTATE of a server that stops, starts or crashes, or of a lost connection (class 57P, 08): the statement may have
 * been executed.
 */
const cut = /^(?:57P|08)/
/** SQLSTATE of a server that accepts no changes, because it follows another server (read_only_sql_transaction). */
const readOnly = '25006'

/**
 * Whether the server rejected a statement and continues to run: nothing of the statement is stored.
 * After any other error, especially a lost connection, the outcome is unknown.
 */
export function isDatabaseRefusal(error: unknown): boolean {
  if (!(error instanceof ServerError)) return false
  const { severity, code = '' } = error
  return severity === 'ERROR' && !cut.test(code) && code !== readOnly
}

/** Whether the error is an answer of the server. */
export function isOfServer(error: unknown): error is ServerError {
  return error instanceof ServerError
}

/** Whether the user lacks a privilege (insufficient_privilege) or a schema. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ServerError && (error.code === '42501' || error.code === '3F000')
}

/** Whether another connection held a lock for longer than the lock timeout (lock_not_available). */
export function isLocked(error: unknown): boolean {
  return error instanceof ServerError && error.code === '55P03'
}

/** Returns the message of the server or the network, without secrets. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  return error.message === '' ? errorCode(error) : error.message
}

/** Thrown when a server answers, but its configuration does not permit a site. */
export class UnusableServerError extends Error {
  override readonly name = 'UnusableServerError'
  /** Remedy in one sentence, in the imperative. */
  readonly mend: string

  constructor(message: string, mend: string) {
    super(message)
    this.mend = mend
  }
}

/**
 * Remedies for a database that cannot be used, by the SQLSTATE from the server or a connection pooler (PostgreSQL
 * documentation, appendix A).
 */
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

/** Returns the remedy for a database that cannot be used, in one sentence. */
export function mendOf(error: unknown): string {
  if (error instanceof UnusableServerError) return error.mend
  const code = error instanceof ServerError ? (error.code ?? '') : ''
  const found = mends.find(([pattern]) => pattern.test(code))
  if (found !== undefined) return found[1]
  return code === ''
    ? 'start PostgreSQL, or correct the address (--store).'
    : 'correct that in the database, for its user, or in the address (--store).'
}

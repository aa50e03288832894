import { DatabaseError as ServerError } from 'pg'

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

/** Message of the server or the network, without secrets. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return error.message === '' ? code : error.message
}

import type { DatabaseClient } from '../system/system.ts'
import { DatabaseError } from './database-error.ts'
import { isOfServer } from './server-answers.ts'

const backend = 'select pg_backend_pid() as backend'

/**
 * Whether a connection pooler changes the server connection with each transaction or statement (PgBouncer: pool_mode =
 * transaction or statement). If so, one server process may serve two connections that are open at the same time. Locks,
 * notifications and prepared statements do not work on such a connection.
 * @param idle an open connection outside a transaction
 * @param other another open connection
 */
async function sharesServerProcess(idle: DatabaseClient, other: DatabaseClient): Promise<boolean> {
  const { rows } = await idle.query<{ backend: number }>(backend)
  try {
    await other.query('begin')
  } catch (error) {
    // A pooler in statement mode permits no transaction.
    if (isOfServer(error)) return true
    throw error
  }
  const { rows: others } = await other.query<{ backend: number }>(backend)
  await other.query('commit')
  return rows[0]?.backend === others[0]?.backend
}

/**
 * Rejects a connection pooler that does not keep sessions. A pooler reports a process number that is not the server's
 * own.
 * @param connect opens another connection to the same host
 * @throws DatabaseError when the pooler does not keep sessions
 */
export async function refuseTransactionPool(
  client: DatabaseClient,
  backend: number,
  connect: () => DatabaseClient,
): Promise<void> {
  if (client.processId === backend) return
  const other = connect()
  other.onError(() => undefined)
  try {
    await other.connect()
    if (!(await sharesServerProcess(client, other))) return
  } finally {
    other.destroy()
  }
  throw new DatabaseError(
    'The pool before the database gives each transaction or statement another connection: it must keep sessions (PgBouncer: pool_mode = session), or name the server itself (--store).',
  )
}

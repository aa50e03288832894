import { clusterTimes } from '../election/timings.ts'
import type { SessionDeadlines } from '../store-options.ts'
import { type DatabaseClient, type DatabaseResult, system } from '../system/system.ts'
import { monotonic, startTimer } from '../system/time.ts'
import { type DatabaseAddress, HostChoice } from './database-address.ts'
import { pgClient } from './pg-client.ts'
import { refuseTransactionPool } from './pooled-connection.ts'
import { messageOf, UnusableServerError } from './server-answers.ts'

/** Deadlines that detect a hanging database within 5 s. */
export const defaultDeadlines: SessionDeadlines = {
  connect: clusterTimes.databaseConnect,
  answer: clusterTimes.databaseAnswer,
}

/** Maximum time for a server to close a connection properly, in milliseconds. */
const endMs = 500

/** Deadline of statements for snapshots and at start, in milliseconds. */
export const longAnswer = 60_000

/**
 * One connection to the host that accepts changes. It is never used again after a connection error or a missing answer;
 * `lost` then contains the reason.
 */
export class DatabaseSession {
  readonly #client: DatabaseClient
  readonly #answerMs: number
  readonly #listeners = new Set<(error: Error) => void>()
  #lost: Error | undefined
  /** Settles when the statement under way has ended; the next statement waits for this. */
  #busy: Promise<void> | undefined
  #busySince = 0
  /** Warning of the server for the statement under way. */
  #warning = ''
  /** Called when an answer did not come in time. */
  readonly #late: () => void

  private constructor(client: DatabaseClient, answerMs: number, late: () => void) {
    this.#late = late
    this.#client = client
    this.#answerMs = answerMs
    client.onError((error) => this.#end(error))
    client.onNotice(({ code, message }) => {
      if (code.startsWith('01')) this.#warning = message
    })
    client.onEnd(() => this.#end(new Error('the connection to the database has ended')))
  }

  /**
   * Connects to the first host that accepts changes.
   * @throws the error of a reachable host; if there is none, of the last host
   */
  static async open(
    address: DatabaseAddress,
    deadlines: SessionDeadlines = defaultDeadlines,
    answerMs = deadlines.answer,
  ): Promise<DatabaseSession> {
    const failures: unknown[] = []
    const hosts = HostChoice.of(address)
    for (const connectionString of hosts.order) {
      try {
        return await DatabaseSession.#openHost(connectionString, hosts, deadlines, answerMs)
      } catch (error) {
        failures.push(error)
      }
    }
    // The error of a reachable host is more helpful than the error of an unreachable host.
    const cause = failures.find((failure) => !isUnreachable(failure)) ?? failures.at(-1)
    throw cause instanceof Error ? cause : new Error(messageOf(cause))
  }

  static async #openHost(
    connectionString: string,
    hosts: HostChoice,
    deadlines: SessionDeadlines,
    answerMs: number,
  ): Promise<DatabaseSession> {
    const connect = (): DatabaseClient => (system().database ?? pgClient)(connectionString, deadlines.connect)
    const client = connect()
    const session = new DatabaseSession(client, answerMs, () => hosts.leave(connectionString))
    try {
      await client.connect()
      const { rows } = await session.query<ServerFacts>(setUp(deadlines, answerMs))
      const [found] = rows
      if (found?.follows !== false) throw new Error('the database takes no changes: it follows another server')
      refuseUnusable(found)
      hosts.check(found)
      await refuseTransactionPool(client, found.backend, connect)
      return session
    } catch (error) {
      session.destroy()
      // Message of pg at its own deadline.
      if (error instanceof Error && error.message === 'timeout expired')
        throw new Error(`it has not let us in within ${deadlines.connect / 1_000} s`, { cause: error })
      throw error
    }
  }

  /** Error that ended the session; undefined: no error so far. */
  get lost(): Error | undefined {
    return this.#lost
  }

  /** Time for which the statement under way has waited for its answer, in milliseconds; 0: none. */
  get busyFor(): number {
    return this.#busy === undefined ? 0 : monotonic() - this.#busySince
  }

  /** @param listener called once with the error that ended the connection */
  onLost(listener: (error: Error) => void): void {
    this.#listeners.add(listener)
  }

  /** @param listener called with each notification on the channels to which this session listens */
  onNotification(listener: (payload: string) => void): void {
    this.#client.onNotification(listener)
  }

  /**
   * Runs one statement, or several statements in one text without values. The deadline begins when the statement is
   * sent. If no answer comes within the deadline, the connection is closed, and the outcome of the statement is
   * unknown.
   * @param name prepares the statement once under this name
   */
  async query<R extends object>(text: string, values?: unknown[], name?: string): Promise<DatabaseResult<R>> {
    return (await this.#run<R>(text, values, name)).result
  }

  async #run<R extends object>(
    text: string,
    values: unknown[] | undefined,
    name: string | undefined,
  ): Promise<{ result: DatabaseResult<R>; warning: string }> {
    while (this.#busy !== undefined) await this.#busy
    if (this.#lost !== undefined) throw this.#lost
    const { promise: idle, resolve: free } = Promise.withResolvers<void>()
    this.#busy = idle
    this.#busySince = monotonic()
    this.#warning = ''
    const { promise: late, reject } = Promise.withResolvers<never>()
    const giveUp = (): void => {
      const error = new Error(`the database has not answered for ${this.#answerMs / 1_000} s`)
      this.#late()
      this.#end(error)
      reject(error)
    }
    const timer = startTimer(this.#answerMs, giveUp)
    const ended = (error: Error): void => reject(error)
    this.#listeners.add(ended)
    const asked =
      values === undefined
        ? this.#client.query<R>(text)
        : this.#client.query<R>({ text, values, ...(name === undefined ? {} : { name }) })
    // The caller gets the result below; this copy must not count as unhandled.
    asked.catch(() => undefined)
    try {
      const result = await Promise.race([asked, late])
      return { result, warning: this.#warning }
    } finally {
      timer.cancel()
      this.#listeners.delete(ended)
      this.#busy = undefined
      free()
    }
  }

  /**
   * Runs a statement whose commit must be fully confirmed. A warning means that the commit was not confirmed: an
   * operator has cancelled the wait for a synchronous standby.
   * A warning closes the connection, because the outcome is unknown: a failover may lose the commit (PostgreSQL
   * documentation, 27.2.8).
   */
  async commit<R extends object>(text: string, values?: unknown[], name?: string): Promise<DatabaseResult<R>> {
    const { result, warning } = await this.#run<R>(text, values, name)
    if (warning === '') return result
    const error = new Error(`the database does not confirm what it has stored: ${warning}`)
    this.#end(error)
    throw error
  }

  /** Closes the session properly, without waiting for an unreachable server. */
  async close(): Promise<void> {
    if (this.#lost !== undefined) return
    const ended = this.#client.end()
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = startTimer(endMs, resolve)
    // The connection is closed below.
    await Promise.race([ended.catch(() => undefined), late])
    timer.cancel()
    this.destroy()
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#end(new Error('the connection to the database was closed'))
  }

  #end(error: Error): void {
    if (this.#lost !== undefined) return
    this.#lost = error
    this.#client.destroy()
    for (const listener of [...this.#listeners]) listener(error)
    this.#listeners.clear()
  }
}

/** Facts about a server, queried when a session begins. */
interface ServerFacts {
  follows: boolean
  read_only: string
  encoding: string
  /** Schema in which the session would create tables; empty: none. */
  schema: string
  cluster: string
  timeline: string
  backend: number
}

/** Checks the configuration of a server. @throws UnusableServerError */
function refuseUnusable({ read_only, encoding, schema }: ServerFacts): void {
  if (read_only !== 'off')
    throw new UnusableServerError(
      'it takes no changes: default_transaction_read_only is on',
      'make room on its disk if its provider has set that, then set it to off.',
    )
  if (encoding !== 'UTF8')
    throw new UnusableServerError(
      `its encoding is ${encoding}, which cannot store the letters of every language`,
      'create one in UTF8 (createdb -E UTF8 -T template0), and move the tables with pg_dump.',
    )
  if (schema === '')
    throw new UnusableServerError(
      'the search_path of its user names no schema that exists and that it may use',
      'create that schema, or let the user have another one (alter role … set search_path = public).',
    )
  // PostgreSQL reserves this prefix for system and temporary schemas.
  if (schema.startsWith('pg_'))
    throw new UnusableServerError(
      `the search_path of its user begins with ${schema}, a schema of the server itself`,
      'let it begin with another one (alter role … set search_path = public).',
    )
}

/**
 * Returns a statement that sets all parameters on which correctness or messages depend. The server, the database or the
 * role may configure any values, so each session sets its own.
 * `statement_timeout` comes first: the simulation recognizes the statement by this parameter.
 */
function setUp({ answer }: SessionDeadlines, answerMs: number): string {
  const settings = {
    // A statement must end before the deadline of its caller.
    statement_timeout: Math.max(answer, answerMs) - 500,
    lock_timeout: answer - 500,
    idle_in_transaction_session_timeout: longAnswer,
    // Detects a dead peer, so that its locks are released.
    tcp_keepalives_idle: 2,
    tcp_keepalives_interval: 1,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 5_000,
    // Without the warning of a cancelled wait, a commit that no standby has would count as confirmed.
    client_min_messages: 'warning',
    client_encoding: 'UTF8',
    default_transaction_isolation: 'read committed',
    default_transaction_deferrable: 'off',
    // Rows hidden by a policy must be an error, not missing records.
    row_security: 'off',
    standard_conforming_strings: 'on',
    transform_null_equals: 'off',
    bytea_output: 'hex',
    DateStyle: 'ISO, MDY',
    IntervalStyle: 'postgres',
    TimeZone: 'UTC',
    extra_float_digits: 1,
  }
  const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`)
  // A confirmed commit must be on disk, even if the database is configured to confirm earlier.
  const durable = `case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end`
  // Not every version has these parameters. Sessions that wait for changes are idle for hours.
  const later = `(select count(set_config(name, '0', false)) from pg_settings where name in ('idle_session_timeout', 'transaction_timeout'))`
  const facts = [
    'pg_is_in_recovery() as follows',
    `current_setting('default_transaction_read_only') as read_only`,
    `current_setting('server_encoding') as encoding`,
    `coalesce(current_schema(), '') as schema`,
    '(select system_identifier::text from pg_control_system()) as cluster',
    // Names of WAL files begin with the timeline, which each failover increments.
    `case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) else '' end as timeline`,
    'pg_backend_pid() as backend',
  ]
  return `select ${[...set, durable, later, ...facts].join(', ')}`
}

function isUnreachable(error: unknown): boolean {
  return error instanceof AggregateError || (error instanceof Error && 'syscall' in error)
}

/**
 * Runs statements in one transaction.
 * @param mode text after `begin`, such as an isolation level
 * @throws the errors of `work` and of the database
 */
export async function inDatabaseTransaction<T>(
  session: DatabaseSession,
  work: () => Promise<T>,
  mode = '',
): Promise<T> {
  await session.query(`begin ${mode}`)
  try {
    const result = await work()
    await session.commit('commit')
    return result
  } catch (error) {
    // The first error is the one to report; a lost connection rolls back.
    if (session.lost === undefined) await session.query('rollback').catch(() => undefined)
    throw error
  }
}

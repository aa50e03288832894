import { monotonic, startTimer } from '../system/time.ts'
import { type DatabaseAddress, HostChoice } from './database-address.ts'
import { messageOf, UnusableServerError } from './server-answers.ts'
import { clusterTimes } from '../election/timings.ts'
import type { SessionDeadlines } from '../store-options.ts'
import type { DatabaseClient, DatabaseResult } from '../system/database-client.ts'
import { system } from '../system/system.ts'
import { refuseTransactionPool } from './pooled-connection.ts'
import { pgClient } from './pg-client.ts'

/** A database that hangs is found within 5 s. */
export const defaultDeadlines: SessionDeadlines = {
  connect: clusterTimes.databaseConnect,
  answer: clusterTimes.databaseAnswer,
}

/** How long a server may take to end a connection in order, in milliseconds. */
const endMs = 500

/** Statements that a snapshot or a start is made of may take longer, in milliseconds. */
export const longAnswer = 60_000

/**
 * One connection to the host that takes changes. It is never used again after an error of the connection, or an answer that did not come:
 * `lost` then says why.
 */
export class Session {
  readonly #client: DatabaseClient
  readonly #answerMs: number
  readonly #listeners = new Set<(error: Error) => void>()
  #lost: Error | undefined
  /** The statement under way; the next one waits for its end. */
  #busy: Promise<void> | undefined
  #busySince = 0
  /** Warning of the server about the statement under way. */
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
   * Connects to the first host that takes changes, in their order.
   * @throws what the last host said, or why it was left
   */
  static async open(
    address: DatabaseAddress,
    deadlines: SessionDeadlines = defaultDeadlines,
    answerMs = deadlines.answer,
  ): Promise<Session> {
    const failures: unknown[] = []
    const hosts = HostChoice.of(address)
    for (const connectionString of hosts.order) {
      try {
        return await Session.#openHost(connectionString, hosts, deadlines, answerMs)
      } catch (error) {
        failures.push(error)
      }
    }
    // The error of a host that was reached tells more than one of a host that was not.
    const told = failures.find((failure) => !isUnreachable(failure)) ?? failures.at(-1)
    throw told instanceof Error ? told : new Error(messageOf(told))
  }

  static async #openHost(
    connectionString: string,
    hosts: HostChoice,
    deadlines: SessionDeadlines,
    answerMs: number,
  ): Promise<Session> {
    const connect = (): DatabaseClient => (system().database ?? pgClient)(connectionString, deadlines.connect)
    const client = connect()
    const session = new Session(client, answerMs, () => hosts.leave(connectionString))
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
      // pg's message at its own deadline.
      if (error instanceof Error && error.message === 'timeout expired')
        throw new Error(`it has not let us in within ${deadlines.connect / 1_000} s`, { cause: error })
      throw error
    }
  }

  /** Error that ended the session; undefined: it works, as far as is known. */
  get lost(): Error | undefined {
    return this.#lost
  }

  /** How long the statement under way has waited for its answer, in milliseconds; 0: none is. */
  get busyFor(): number {
    return this.#busy === undefined ? 0 : monotonic() - this.#busySince
  }

  /** @param listener called once with the error that ended the connection. */
  onLost(listener: (error: Error) => void): void {
    this.#listeners.add(listener)
  }

  /** @param listener called with what comes in on a channel that this session listens to. */
  onNotification(listener: (payload: string) => void): void {
    this.#client.onNotification(listener)
  }

  /**
   * One statement, or several in one text without values. An answer that does not come within the deadline, which begins with its turn, ends the connection: what became of the statement is open then.
   * @param name given: it is prepared once.
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
    // The caller gets the answer below; this one must not count as unhandled.
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
   * A statement that must be as safe as the database can make it. A warning says that its commit was not: an operator has cancelled the wait for a synchronous standby. It ends the
   * connection, because what became of the statement is open: a failover may lose it (PostgreSQL documentation, 27.2.8).
   */
  async commit<R extends object>(text: string, values?: unknown[], name?: string): Promise<DatabaseResult<R>> {
    const { result, warning } = await this.#run<R>(text, values, name)
    if (warning === '') return result
    const error = new Error(`the database does not confirm what it has stored: ${warning}`)
    this.#end(error)
    throw error
  }

  /** Ends the session in order, without waiting for a server that is gone. */
  async close(): Promise<void> {
    if (this.#lost !== undefined) return
    const ended = this.#client.end()
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = startTimer(endMs, resolve)
    // The connection is cut below.
    await Promise.race([ended.catch(() => undefined), late])
    timer.cancel()
    this.destroy()
  }

  /** Cuts the connection. */
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

/** Facts about a server, read when a session begins. */
interface ServerFacts {
  follows: boolean
  read_only: string
  encoding: string
  /** Where its tables are made; empty: nowhere. */
  schema: string
  cluster: string
  timeline: string
  backend: number
}

/** @throws UnusableServerError */
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
  // PostgreSQL keeps this prefix for its own and for temporary ones.
  if (schema.startsWith('pg_'))
    throw new UnusableServerError(
      `the search_path of its user begins with ${schema}, a schema of the server itself`,
      'let it begin with another one (alter role … set search_path = public).',
    )
}

/**
 * Parameters that correctness or wording depends on. The server, the database or the role may have any value of them: each session sets its own.
 * `statement_timeout` comes first: the simulation recognises the statement by it.
 */
function setUp({ answer }: SessionDeadlines, answerMs: number): string {
  const settings = {
    // A statement ends before its caller gives up.
    statement_timeout: Math.max(answer, answerMs) - 500,
    lock_timeout: answer - 500,
    idle_in_transaction_session_timeout: longAnswer,
    // A dead peer is noticed, so that its locks are released.
    tcp_keepalives_idle: 2,
    tcp_keepalives_interval: 1,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 5_000,
    // Without the warning of a cancelled wait, a commit that no standby has would count as confirmed.
    client_min_messages: 'warning',
    client_encoding: 'UTF8',
    default_transaction_isolation: 'read committed',
    default_transaction_deferrable: 'off',
    // Rows that a policy hides are an error, not missing records.
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
  // Success means on disk: a database that answers earlier by its own settings must not.
  const durable = `case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end`
  // Not every version has these: sessions that wait for changes are idle for hours.
  const later = `(select count(set_config(name, '0', false)) from pg_settings where name in ('idle_session_timeout', 'transaction_timeout'))`
  const facts = [
    'pg_is_in_recovery() as follows',
    `current_setting('default_transaction_read_only') as read_only`,
    `current_setting('server_encoding') as encoding`,
    `coalesce(current_schema(), '') as schema`,
    '(select system_identifier::text from pg_control_system()) as cluster',
    // The names of the log's files begin with the timeline, which each failover raises.
    `case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) else '' end as timeline`,
    'pg_backend_pid() as backend',
  ]
  return `select ${[...set, durable, later, ...facts].join(', ')}`
}

function isUnreachable(error: unknown): boolean {
  return error instanceof AggregateError || (error instanceof Error && 'syscall' in error)
}

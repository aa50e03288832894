import { DatabaseError as ServerError } from 'pg'
import { pgClient } from '../../../server/store/postgres/pg-client.ts'
import type { DatabaseClient, DatabaseResult, DatabaseStatement } from '../../../server/store/system/system.ts'
import type { PostgresServer } from './server.ts'
import { ServerSession } from './server-session.ts'

/** What became of a statement: an answer, or the SQLSTATE of its error. */
type Outcome = { answer: DatabaseResult<object> } | { code: string; error: unknown }

/** A difference between the model and PostgreSQL. */
export class DifferenceError extends Error {
  override readonly name = 'DifferenceError'
}

/** Statements of which nobody reads the answer. */
const unread = /^\s*(?:select pg_terminate_backend|select pg_advisory_unlock|delete |listen |begin|commit|rollback)/
/** Columns that are another server's own. */
const own = new Set(['cluster', 'timeline', 'backend', 'schema', 'since', 'pg_notify'])
/** Columns that tell a span up to now: it counts whether there is one, and whether it is over. */
const spans = new Set(['leaseLeft', 'seenAgo', 'behindFor'])

/** Connections each statement of which goes to PostgreSQL and to the model: their answers must be the same. */
export class Twins {
  readonly #model: PostgresServer
  readonly #open = new Set<Twin>()
  /** Statements until now. */
  statements = 0
  readonly texts = new Set<string>()

  constructor(model: PostgresServer) {
    this.#model = model
  }

  connect(connectionString: string, connectMs: number): DatabaseClient {
    const twin = new Twin(pgClient(connectionString, connectMs), this.#model, (text) => {
      this.statements++
      this.texts.add(text)
    })
    this.#open.add(twin)
    return twin
  }

  /** Connections that one of both has ended and the other has not. */
  get torn(): string[] {
    for (const twin of this.#open) if (twin.hasEnded.model && twin.hasEnded.real) this.#open.delete(twin)
    return [...this.#open].flatMap(({ hasEnded }) =>
      hasEnded.model === hasEnded.real ? [] : [`the model ${hasEnded.model ? 'ended' : 'kept'} a connection`],
    )
  }
}

class Twin implements DatabaseClient {
  readonly #real: DatabaseClient
  readonly #model: PostgresServer
  readonly #counted: (text: string) => void
  #session: ServerSession | undefined
  readonly hasEnded = { model: false, real: false }

  constructor(real: DatabaseClient, model: PostgresServer, counted: (text: string) => void) {
    this.#real = real
    this.#model = model
    this.#counted = counted
    real.onEnd(() => (this.hasEnded.real = true))
    real.onError(() => (this.hasEnded.real = true))
  }

  get processId(): number {
    return this.#real.processId
  }

  async connect(): Promise<void> {
    await this.#real.connect()
    const quiet = (): void => undefined
    this.#session = new ServerSession(this.#model, 'twin', {
      notify: quiet,
      notice: quiet,
      ended: () => (this.hasEnded.model = true),
    })
  }

  async query<Row extends object>(statement: string | DatabaseStatement): Promise<DatabaseResult<Row>> {
    const { text, values } = typeof statement === 'string' ? { text: statement, values: [] } : statement
    const session = this.#session
    if (session === undefined) throw new Error('It is not connected.')
    this.#counted(text)
    const real = await outcomeOf(this.#real.query<Row>(statement))
    const model = await outcomeOf(session.query(text, values))
    compare(text, values, real, model)
    if ('error' in real) throw real.error
    return real.answer as DatabaseResult<Row>
  }

  async end(): Promise<void> {
    this.#session?.closed('the client closed the connection')
    await this.#real.end()
  }

  destroy(): void {
    this.#session?.closed('the client closed the connection')
    this.#real.destroy()
    this.hasEnded.real = true
  }

  onError(listener: (error: Error) => void): void {
    this.#real.onError(listener)
  }

  onEnd(listener: () => void): void {
    this.#real.onEnd(listener)
  }

  onNotification(listener: (payload: string) => void): void {
    this.#real.onNotification(listener)
  }

  onNotice(listener: (notice: { code: string; message: string }) => void): void {
    this.#real.onNotice(listener)
  }
}

async function outcomeOf(asked: Promise<DatabaseResult<object>>): Promise<Outcome> {
  try {
    return { answer: await asked }
  } catch (error) {
    if (error instanceof ServerError) return { code: error.code ?? '', error }
    // The connection had ended.
    return { code: '57P01', error }
  }
}

/** @throws DifferenceError */
function compare(text: string, values: readonly unknown[], real: Outcome, model: Outcome): void {
  const differ = (what: string): never => {
    const said = (outcome: Outcome): string =>
      'error' in outcome
        ? `error ${outcome.code} ${String(outcome.error)}`
        : JSON.stringify({ rows: outcome.answer.rows, rowCount: outcome.answer.rowCount })
    throw new DifferenceError(
      `${what}: ${text} ${JSON.stringify(values)}\n  PostgreSQL: ${said(real)}\n  the model:  ${said(model)}`,
    )
  }
  if ('error' in real || 'error' in model) {
    if (!('error' in real) || !('error' in model) || real.code !== model.code) differ('another error')
    return
  }
  if (unread.test(text)) return
  if (real.answer.rowCount !== model.answer.rowCount) differ('another number of rows')
  for (const [at, row] of model.answer.rows.entries()) {
    const other = real.answer.rows[at] ?? {}
    for (const [name, value] of Object.entries(row)) {
      if (own.has(name)) continue
      if (shown(name, value) !== shown(name, Reflect.get(other, name))) differ(`another ${name}`)
    }
  }
}

function shown(name: string, value: unknown): string {
  if (spans.has(name) && typeof value === 'number') return value > 0 ? 'some' : 'none'
  // Keys of JSON have no order in PostgreSQL.
  return JSON.stringify(sorted(value))
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

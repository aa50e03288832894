import type { PostgresServer } from './server.ts'
import { serverError } from './server.ts'
import { carryOut } from './statements.ts'
import { type Mutation, type Tables, viewOf } from './tables.ts'

/** Answer to a statement. */
export interface Answer {
  rows: object[]
  rowCount: number | null
}

/** How a session tells its client something. */
export interface ServerWire {
  notify(payload: string): void
  notice(code: string, message: string): void
  /** The server ended the session. */
  ended(error: Error): void
}

/** A backend: one connection as the server sees it. */
export class ServerSession {
  readonly server: PostgresServer
  /** Name of the client's machine. */
  readonly client: string
  readonly pid: number
  readonly #wire: ServerWire
  isOver = false
  isListening = false
  statementTimeout = 60_000
  lockTimeout = 60_000
  /** Server's clock when the statement under way began; undefined: it is idle. */
  busySince: number | undefined
  /** A transaction that `begin` opened. */
  transaction: { mutations: Mutation[]; view: Tables | undefined; isReadOnly: boolean } | undefined
  /** Ends the wait for a synchronous standby: the transaction counts as committed. */
  #isWaitCancelled = false
  #failWait: ((error: Error) => void) | undefined
  #isCommitting = false
  #closedBecause: string | undefined
  /** True time at which the client could last be reached. */
  reachableAt: number

  constructor(server: PostgresServer, client: string, wire: ServerWire) {
    this.server = server
    this.client = client
    this.#wire = wire
    this.pid = server.nextPid()
    this.reachableAt = server.world.time
    server.sessions.add(this)
  }

  /** Carries out one statement. */
  async query(text: string, values: readonly unknown[]): Promise<Answer> {
    const { server } = this
    const { generation } = server
    this.busySince = server.clock
    try {
      await server.world.wait(server.slowness * (0.5 + server.world.random()))
      this.#assertAlive(generation)
      const statement = new Statement(this)
      const answer = await carryOut(statement, text, values)
      this.#assertAlive(generation)
      if (this.transaction === undefined) await this.#commit(statement)
      this.#assertAlive(generation)
      return answer
    } finally {
      this.busySince = undefined
      if (this.transaction === undefined) server.leaderRow.release(this)
      if (this.#closedBecause !== undefined) this.end(this.#closedBecause)
    }
  }

  async #commit({
    mutations,
    notified,
    isQuick,
  }: Pick<Statement, 'mutations' | 'notified' | 'isQuick'>): Promise<void> {
    const { server } = this
    if (mutations.length > 0) {
      if (server.role !== 'primary') throw serverError('25006', 'cannot execute UPDATE in a read-only transaction')
      this.#isCommitting = true
      await server
        .commit(mutations, () => this.#isWaitCancelled, isQuick)
        .finally(() => {
          this.#isCommitting = false
        })
      if (this.#isWaitCancelled)
        this.#wire.notice('01000', 'canceling wait for synchronous replication due to user request')
      this.#isWaitCancelled = false
    }
    if (notified) for (const session of server.sessions) if (session.isListening) session.notify('public')
  }

  /** `begin`, `commit` and `rollback` of more than one statement. */
  begin(isReadOnly: boolean): void {
    this.transaction = { mutations: [], view: undefined, isReadOnly }
  }

  async commitTransaction(): Promise<void> {
    const { transaction } = this
    this.transaction = undefined
    if (transaction !== undefined)
      await this.#commit({ mutations: transaction.mutations, notified: false, isQuick: false })
  }

  rollback(): void {
    this.transaction = undefined
    this.server.leaderRow.release(this)
  }

  notify(payload: string): void {
    for (let sent = 0; sent < this.server.noticesSent; sent++) this.#wire.notify(payload)
  }

  /** `pg_cancel_backend`. */
  cancel(): void {
    this.#isWaitCancelled = true
    this.#failWait?.(serverError('57014', 'canceling statement due to user request'))
    this.server.changed()
  }

  /** Waits for a lock, no longer than this session's timeouts. */
  async waitForLock(taken: Promise<void> | undefined): Promise<void> {
    if (taken === undefined) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#failWait = reject
    const patience = Math.min(this.lockTimeout, this.statementTimeout)
    const late = this.server.world.plan(patience, () =>
      reject(serverError('55P03', 'canceling statement due to lock timeout')),
    )
    void taken.then(resolve)
    try {
      await promise
    } catch (error) {
      this.server.leaderRow.release(this)
      throw error
    } finally {
      late.isCancelled = true
      this.#failWait = undefined
    }
  }

  /** The client has closed the connection, or cannot be reached: a backend that is at work notices only when it has an answer to give. */
  closed(reason: string): void {
    if (this.busySince === undefined) this.end(reason)
    else this.#closedBecause ??= reason
  }

  /** Its locks are free, and what it had not committed is gone. What waits for a standby is committed all the same. */
  end(reason: string): void {
    if (this.isOver) return
    this.isOver = true
    const { server } = this
    server.sessions.delete(this)
    if (server.lockHolder === this) server.lockHolder = undefined
    this.transaction = undefined
    this.#failWait?.(serverError('57P01', reason, 'FATAL'))
    this.#isWaitCancelled = true
    // A transaction that is being committed keeps its locks until others see it.
    if (!this.#isCommitting) server.leaderRow.release(this)
    server.changed()
    this.#wire.ended(serverError('57P01', reason, 'FATAL'))
  }

  #assertAlive(generation: number): void {
    if (this.isOver || generation !== this.server.generation)
      throw serverError('57P01', 'terminating connection', 'FATAL')
  }
}

/** One statement under way. */
export class Statement {
  readonly session: ServerSession
  readonly mutations: Mutation[] = []
  notified = false
  /** `synchronous_commit` is off for it. */
  isQuick = false

  constructor(session: ServerSession) {
    this.session = session
  }

  get server(): PostgresServer {
    return this.session.server
  }

  get clock(): number {
    return this.server.clock
  }

  /** Tables as this statement sees them. */
  get tables(): Tables {
    const { transaction } = this.session
    if (transaction?.isReadOnly !== true) return this.server.tables
    return (transaction.view ??= viewOf(this.server.tables))
  }

  /** Locks the leader's row until the end of the transaction. */
  async lock(mode: 'share' | 'update'): Promise<void> {
    await this.session.waitForLock(this.server.leaderRow.take(this.session, mode))
  }

  change(mutation: Mutation): void {
    const { transaction } = this.session
    if (transaction === undefined) this.mutations.push(mutation)
    else transaction.mutations.push(mutation)
  }

  notify(): void {
    this.notified = true
  }
}

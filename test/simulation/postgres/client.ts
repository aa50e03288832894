import { DatabaseError as ServerError } from 'pg'
import type { DatabaseClient, DatabaseResult, DatabaseStatement } from '../../../server/store/system/system.ts'
import type { Machine } from '../machine.ts'
import type { Network } from '../network.ts'
import type { World } from '../world.ts'
import type { PostgresServer } from './server.ts'
import { type Answer, ServerSession } from './server-session.ts'

/** How long a server waits for a client that cannot be reached, in milliseconds: its keep-alives, and `tcp_user_timeout` (5 s). */
const unreachable = 5_000

/** After how long a client's keep-alives find that its session is over, in milliseconds (`keepAliveInitialDelayMillis` of pgClient). */
const keepAlive = 2_000

/** Connections of one machine to the servers of the simulated site. */
export class DatabaseConnections {
  readonly #world: World
  readonly #network: Network
  readonly #machine: Machine
  readonly #servers: ReadonlyMap<string, PostgresServer>
  readonly #open = new Set<SimulatedClient>()

  constructor(world: World, network: Network, machine: Machine, servers: readonly PostgresServer[]) {
    this.#world = world
    this.#network = network
    this.#machine = machine
    this.#servers = new Map(servers.map((server) => [server.name, server]))
    machine.database = (connectionString, connectMs) => this.#connect(connectionString, connectMs)
  }

  /** The process is gone: its kernel says so to the servers. @param isOff the whole machine is: it says nothing */
  processEnded(isOff: boolean): void {
    for (const client of this.#open) client.processEnded(isOff)
    this.#open.clear()
  }

  #connect(connectionString: string, connectMs: number): DatabaseClient {
    const { hostname } = new URL(connectionString)
    const server = this.#servers.get(hostname)
    if (server === undefined) throw new Error(`There is no server ${hostname}.`)
    const client = new SimulatedClient(this.#world, this.#network, this.#machine, server, connectMs)
    this.#open.add(client)
    client.onEnd(() => this.#open.delete(client))
    return client
  }
}

/** One connection, as a machine has it. */
class SimulatedClient implements DatabaseClient {
  readonly #world: World
  readonly #network: Network
  readonly #machine: Machine
  readonly #server: PostgresServer
  readonly #connectMs: number
  readonly #life: number
  #session: ServerSession | undefined
  #isClosed = false
  /** Messages that the server has sent and that were not taken yet, in order. */
  readonly #coming: { arrive: () => void; hasArrived: boolean }[] = []
  readonly #errorListeners: ((error: Error) => void)[] = []
  readonly #endListeners: (() => void)[] = []
  readonly #notificationListeners: ((payload: string) => void)[] = []
  readonly #noticeListeners: ((notice: { code: string; message: string }) => void)[] = []
  #failQuery: ((error: Error) => void) | undefined

  constructor(world: World, network: Network, machine: Machine, server: PostgresServer, connectMs: number) {
    this.#world = world
    this.#network = network
    this.#machine = machine
    this.#server = server
    this.#connectMs = connectMs
    this.#life = machine.life
  }

  get processId(): number {
    return this.#session?.pid ?? 0
  }

  connect(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const late = this.#machine.after(this.#connectMs, () => reject(new Error('timeout expired')))
    let isOver = false
    const settled = promise.finally(() => {
      isOver = true
      late.cancel()
    })
    const isWanted = (): boolean => !isOver && !this.#isClosed
    const fail = (error: Error): void => this.#toClient(isWanted, () => reject(error))
    this.#network.send(this.#machine.name, this.#server.name, {
      isWanted,
      refused: (error) => void this.#world.plan(0, () => reject(error), this.#machine),
      arrive: () => {
        if (this.#server.role === 'down')
          return fail(
            Object.assign(new Error(`connect ECONNREFUSED ${this.#server.name}`), {
              code: 'ECONNREFUSED',
              syscall: 'connect',
            }),
          )
        const session = new ServerSession(this.#server, this.#machine.name, {
          notify: (payload) =>
            this.#toClient(
              () => !this.#isClosed,
              () => this.#notificationListeners.forEach((listener) => listener(payload)),
            ),
          notice: (code, message) =>
            this.#toClient(
              () => !this.#isClosed,
              () => this.#noticeListeners.forEach((listener) => listener({ code, message })),
            ),
          ended: (error) =>
            this.#toClient(
              () => !this.#isClosed,
              () => this.#ended(error),
            ),
        })
        this.#session = session
        this.#watch(session)
        this.#toClient(isWanted, resolve)
      },
    })
    return settled
  }

  query<Row extends object>(statement: string | DatabaseStatement): Promise<DatabaseResult<Row>> {
    const { text, values } = typeof statement === 'string' ? { text: statement, values: [] } : statement
    const { promise, resolve, reject } = Promise.withResolvers<DatabaseResult<Row>>()
    if (this.#isClosed || this.#session === undefined) return Promise.reject(new Error('Client was closed'))
    const session = this.#session
    this.#failQuery = reject
    let isOver = false
    const settled = promise.finally(() => {
      isOver = true
      this.#failQuery = undefined
    })
    const isWanted = (): boolean => !isOver && !this.#isClosed
    this.#network.send(this.#machine.name, this.#server.name, {
      // TCP delivers a statement that it has taken, although nobody waits for its answer any more.
      isWanted: () => !session.isOver || isWanted(),
      refused: (error) => void this.#world.plan(0, () => this.#ended(error), this.#machine),
      arrive: () => {
        if (session.isOver) return this.#toClient(isWanted, () => this.#ended(reset()))
        session.query(text, values).then(
          (answer: Answer) =>
            this.#toClient(isWanted, () => resolve({ rows: answer.rows as Row[], rowCount: answer.rowCount })),
          (error: unknown) => {
            // An error of the model itself ends the run.
            if (!(error instanceof ServerError)) return this.#world.fail(error)
            this.#toClient(isWanted, () => reject(error))
          },
        )
      },
    })
    return settled
  }

  async end(): Promise<void> {
    this.#close()
  }

  destroy(): void {
    this.#close()
  }

  onError(listener: (error: Error) => void): void {
    this.#errorListeners.push(listener)
  }

  onEnd(listener: () => void): void {
    this.#endListeners.push(listener)
  }

  onNotification(listener: (payload: string) => void): void {
    this.#notificationListeners.push(listener)
  }

  onNotice(listener: (notice: { code: string; message: string }) => void): void {
    this.#noticeListeners.push(listener)
  }

  processEnded(isOff: boolean): void {
    this.#isClosed = true
    if (!isOff) this.#sayClosed()
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#sayClosed()
    for (const listener of this.#endListeners) listener()
  }

  #sayClosed(): void {
    const session = this.#session
    if (session === undefined) return
    this.#network.send(this.#machine.name, this.#server.name, {
      isWanted: () => !session.isOver,
      refused: () => undefined,
      arrive: () => session.closed('the client closed the connection'),
    })
  }

  #ended(error: Error): void {
    if (this.#isClosed) return
    this.#failQuery?.(error)
    for (const listener of this.#errorListeners) listener(error)
    this.#isClosed = true
    for (const listener of this.#endListeners) listener()
  }

  /** Sends something to the process; what is refused on its way ends the session at the server. */
  #toClient(isWanted: () => boolean, arrive: () => void): void {
    const { life } = this.#machine
    if (life !== this.#life) return
    const message = { arrive: () => isWanted() && arrive(), hasArrived: false }
    this.#coming.push(message)
    this.#network.send(this.#server.name, this.#machine.name, {
      isWanted: () => !this.#isClosed,
      refused: () => this.#session?.closed('the connection was reset'),
      arrive: () => {
        message.hasArrived = true
        // One stream: what arrives early waits for what was sent before it.
        while (this.#coming[0]?.hasArrived === true) {
          const first = this.#coming.shift()
          if (first !== undefined) this.#world.plan(0, first.arrive, this.#machine)
        }
      },
    })
  }

  /** The server notices a client that it cannot reach. */
  #watch(session: ServerSession): void {
    const look = (): void => {
      const { name } = this.#machine
      const isReached =
        this.#network.state(this.#server.name, name) === 'open' &&
        this.#network.state(name, this.#server.name) === 'open' &&
        !this.#machine.isOff &&
        this.#machine.stopped !== 'suspended'
      if (session.isOver) {
        if (this.#isClosed || this.#machine.life !== this.#life) return
        if (isReached) this.#world.plan(keepAlive, () => this.#ended(reset()), this.#machine)
        else this.#world.plan(1_000, look)
        return
      }
      if (isReached) session.reachableAt = this.#world.time
      if (isReached && (this.#isClosed || this.#machine.life !== this.#life)) session.closed('the connection was reset')
      else if (this.#world.time - session.reachableAt > unreachable) session.closed('the client cannot be reached')
      this.#world.plan(1_000, look)
    }
    this.#world.plan(1_000, look)
  }
}

function reset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' })
}

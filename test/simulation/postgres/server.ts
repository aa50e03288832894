import { DatabaseError as ServerError } from 'pg'
import type { Network } from '../network.ts'
import type { World } from '../world.ts'
import { RowLock } from './row-lock.ts'
import type { ServerSession } from './server-session.ts'
import { emptyTables, type Mutation, type Tables, viewOf } from './tables.ts'

/** One record of the write-ahead log. */
interface LogRecord {
  mutations: readonly Mutation[]
  isApplied: boolean
}

/** An error as the server words it. */
export function serverError(code: string, message: string, severity = 'ERROR'): ServerError {
  return Object.assign(new ServerError(message, 0, 'error'), { code, severity })
}

/**
 * A PostgreSQL server as far as Roomdesk's statements can tell: sessions, the lock of a leader, the row lock of `roomdesk_leader`, transactions with a write-ahead log, synchronous
 * standbys. A transaction that waits for its standby keeps its locks and is not seen by others (PostgreSQL documentation, 27.2.8).
 */
export class PostgresServer {
  readonly name: string
  readonly world: World
  readonly network: Network
  /** `standby` takes no changes (`pg_is_in_recovery`). */
  role: 'primary' | 'standby' | 'down'
  /** Everything that is committed and seen. */
  tables: Tables = emptyTables()
  #log: LogRecord[] = []
  /** Servers that replay what this one logs. */
  standbys: PostgresServer[] = []
  /** `synchronous_standby_names`: undefined means that no standby is waited for. */
  waitsFor: 'any' | undefined
  /** How many faults let it name one that does not exist. */
  waitsForNobody = 0
  readonly #acknowledged = new Map<PostgresServer, number>()
  readonly sessions = new Set<ServerSession>()
  /** The advisory lock of a leader. */
  lockHolder: ServerSession | undefined
  /** How often its holder has taken it: it must be given back as often. */
  lockDepth = 0
  readonly leaderRow = new RowLock()
  /** How often each notice is sent: a notice is a hint, and nothing may rest on it. */
  noticesSent: 0 | 1 | 2 = 1
  /** How long a statement takes at least, in milliseconds. */
  slowness = 0.2
  /** How far its clock is off, in milliseconds. */
  clockError = 0
  /** Raised by each failover. */
  timeline = 1
  /** Called when it has less than what controllers were told to be stored. */
  onLess: () => void = () => undefined
  /** Restarts until now: what a server before one had begun is gone. */
  generation = 0
  #nextPid = 1
  #nextSnapshot = 1
  #changed: (() => void)[] = []

  constructor(world: World, network: Network, name: string, role: 'primary' | 'standby') {
    this.world = world
    this.network = network
    this.name = name
    this.role = role
  }

  get clock(): number {
    return 1_000_000 + this.world.time + this.clockError
  }

  nextPid(): number {
    return this.#nextPid++
  }

  /** From a sequence: numbers of rolled back transactions are lost. */
  nextSnapshot(): number {
    return this.#nextSnapshot++
  }

  /**
   * Writes the log record, waits for who is to confirm it, and shows it.
   * @param isCancelled whether the wait was cancelled: it counts as committed then, with a warning
   * @param isQuick with `synchronous_commit = off`: nobody is waited for
   */
  async commit(mutations: readonly Mutation[], isCancelled: () => boolean, isQuick: boolean): Promise<void> {
    const { generation } = this
    await this.world.wait(this.slowness * (0.5 + this.world.random()))
    if (generation !== this.generation || this.role !== 'primary')
      throw serverError('57P01', 'terminating connection', 'FATAL')
    const record = { mutations, isApplied: false }
    this.#log.push(record)
    const end = this.#log.length
    for (const standby of this.standbys) this.#replicate(standby)
    while (!isQuick && !this.#isConfirmed(end) && !isCancelled()) {
      await new Promise<void>((resolve) => this.#changed.push(resolve))
      if (generation !== this.generation) throw serverError('57P01', 'terminating connection', 'FATAL')
    }
    this.#apply(record)
  }

  /** Lets everybody who waits for a confirmation look again. */
  changed(): void {
    for (const resolve of this.#changed.splice(0)) resolve()
  }

  /** Crashes, or is stopped at once: its sessions end, and nothing answers. */
  crash(): void {
    this.role = 'down'
    this.generation++
    for (const session of [...this.sessions]) session.end('the server crashed')
    this.leaderRow.clear()
    this.changed()
  }

  /** Starts again with everything that its log holds, confirmed or not. */
  start(role: 'primary' | 'standby' = 'primary'): void {
    this.role = role
    for (const record of this.#log) this.#apply(record)
  }

  /** A standby takes over with what it has. */
  promote(): void {
    this.onLess()
    this.role = 'primary'
    this.timeline++
    this.generation++
    this.#nextSnapshot = Math.max(this.#nextSnapshot, ...this.tables.snapshots.map(({ id }) => id + 1))
    this.changed()
  }

  /** State of now, to go back to. */
  save(): Tables {
    return viewOf(this.tables)
  }

  /** Somebody puts an older state back while controllers run: all sessions end. */
  putBack(saved: Tables): void {
    this.onLess()
    this.crash()
    this.tables = viewOf(saved)
    this.#log = [{ mutations: [(tables) => Object.assign(tables, saved)], isApplied: true }]
    this.#acknowledged.clear()
    for (const standby of this.standbys) standby.copy(this)
    this.start()
  }

  /** Becomes a copy of another server, as a base backup makes it. */
  copy(of: PostgresServer): void {
    this.timeline = of.timeline
    this.#log = [...of.#log.map((record) => ({ ...record, isApplied: true }))]
    const tables = emptyTables()
    for (const { mutations } of this.#log) for (const mutate of mutations) mutate(tables)
    this.tables = tables
    of.#acknowledged.set(this, this.#log.length)
  }

  #apply(record: LogRecord): void {
    if (record.isApplied) return
    record.isApplied = true
    for (const mutate of record.mutations) mutate(this.tables)
  }

  #isConfirmed(end: number): boolean {
    if (this.waitsForNobody > 0) return false
    if (this.waitsFor === undefined) return true
    return this.standbys.some((standby) => (this.#acknowledged.get(standby) ?? 0) >= end)
  }

  /** Sends what the standby does not have yet; one stream, in order. */
  #replicate(standby: PostgresServer): void {
    const { generation } = this
    const isWanted = (): boolean => generation === this.generation && standby.role === 'standby'
    const refused = (): void => void this.world.plan(1_000, () => isWanted() && this.#replicate(standby))
    this.network.send(this.name, standby.name, {
      isWanted,
      refused,
      arrive: () => {
        while (standby.#log.length < this.#log.length) {
          const record = this.#log[standby.#log.length]
          if (record === undefined) break
          const own = { mutations: record.mutations, isApplied: false }
          standby.#log.push(own)
          standby.#apply(own)
        }
        const end = standby.#log.length
        this.network.send(standby.name, this.name, {
          isWanted,
          refused: () => undefined,
          arrive: () => {
            this.#acknowledged.set(standby, Math.max(end, this.#acknowledged.get(standby) ?? 0))
            this.changed()
          },
        })
      },
    })
  }
}

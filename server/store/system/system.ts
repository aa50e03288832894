import { randomInt, randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../files/durable-files.ts'
import { ownProcesses, type Processes } from './processes.ts'
import { renameFile } from './rename-file.ts'

export interface Timer {
  cancel(): void
}

/**
 * Interface to the machine. The election, the store and the replica use only this interface for time, randomness and
 * connections, so that the simulation can run them on simulated machines.
 */
export interface System {
  /** Wall clock, in milliseconds since the epoch. It jumps when the clock is set. */
  now(): number
  /** Milliseconds since an arbitrary moment. Never goes back, and stops while the machine is suspended. */
  monotonic(): number
  /** @param ref whether the timer keeps the process alive */
  after(milliseconds: number, run: () => void, ref: boolean): Timer
  /** Runs a function after events that have already arrived. */
  soon(run: () => void): void
  /** Returns a random UUID (RFC 9562, version 4). */
  uuid(): string
  /** Returns a random integer from `from` to `to`, both included. Their difference must be less than 2^48. */
  integer(from: number, to: number): number
  files: SmallFiles
  processes: Processes
  /**
   * Returns the reason why a port of another machine accepts no connection; empty: the port accepts connections. Left
   * out: a real connection is opened.
   */
  reach?: (host: string, port: number) => Promise<string>
  /** Opens connections to PostgreSQL; left out: `pg` is used. */
  database?: (connectionString: string, connectMs: number) => DatabaseClient
}

/** Small files of the data folder. Errors are those of Node's file system. */
export interface SmallFiles {
  readText(path: string): Promise<string>
  /** Replaces a file atomically and durably; on rejection the old file stays. Only the owner may read the file. */
  replace(path: string, text: string): Promise<void>
  /** Removes a file, if it exists. */
  remove(path: string): Promise<void>
}

export interface DatabaseResult<Row extends object> {
  rows: Row[]
  rowCount: number | null
}

/** A statement with values; a named statement is prepared once. */
export interface DatabaseStatement {
  text: string
  values: unknown[]
  name?: string
}

/** One connection to a PostgreSQL server, with the functions of `pg` that are used. */
export interface DatabaseClient {
  /**
   * Process id of the server's backend, received at connect. A connection pooler sends its own number. 0: not connected
   * yet.
   */
  readonly processId: number
  /** Rejects when the server does not accept the connection within the deadline. */
  connect(): Promise<void>
  query<Row extends object>(statement: string | DatabaseStatement): Promise<DatabaseResult<Row>>
  /** Closes the connection properly. */
  end(): Promise<void>
  /** Closes the socket at once. */
  destroy(): void
  onError(listener: (error: Error) => void): void
  onEnd(listener: () => void): void
  /** @param listener called with the payload of each NOTIFY on a channel to which this connection listens */
  onNotification(listener: (payload: string) => void): void
  /**
   * @param listener called with notices of the server during a statement. `code`: SQLSTATE; the code of a warning
   * begins with 01
   */
  onNotice(listener: (notice: { code: string; message: string }) => void): void
}

export const ownFiles: SmallFiles = {
  readText: (path) => readFile(path, 'utf8'),
  replace: async (path, text) => {
    const temporary = `${path}.tmp`
    await writeFile(temporary, text, { mode: 0o600, flush: true })
    await renameFile(temporary, path)
    await syncFolder(dirname(path))
  },
  remove: async (path) => {
    await rm(path, { force: true })
    await syncFolder(dirname(path))
  },
}

const ownSystem: System = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (milliseconds, run, ref) => {
    const timer = setTimeout(run, milliseconds)
    if (!ref) timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
  soon: (run) => void setImmediate(run),
  uuid: () => randomUUID(),
  integer: (from, to) => randomInt(from, to + 1),
  files: ownFiles,
  processes: ownProcesses,
}

let current: () => System = () => ownSystem

/** Returns the machine of the running code. */
export function system(): System {
  return current()
}

/**
 * Replaces the machine of this process. For the simulation.
 * @param machine returns the machine of the running code; undefined: the real machine, for the test itself
 */
export function replaceSystem(machine: () => System | undefined): void {
  current = () => machine() ?? ownSystem
}

/** Returns a random UUID (RFC 9562, version 4). */
export function uuid(): string {
  return system().uuid()
}

/** Returns a random integer from `from` to `to`, both included. The difference must be less than 2^48. */
export function randomInteger(from: number, to: number): number {
  return system().integer(from, to)
}

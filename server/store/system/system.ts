import { randomInt, randomUUID } from 'node:crypto'
import type { DatabaseClient } from './database-client.ts'
import { ownFiles, type SmallFiles } from './files.ts'
import { ownProcesses, type Processes } from './processes.ts'

/** A timer that can be ended before it is due. */
export interface Timer {
  cancel(): void
}

/**
 * The machine, as a program sees it. Election, store and replica take time, chance and connections from here alone, so that the simulation can run them
 * on machines of its own.
 */
export interface System {
  /** Wall clock, milliseconds since the epoch: it steps when somebody sets it. */
  now(): number
  /** Milliseconds since some moment: never goes back, and stands still while the machine is suspended. */
  monotonic(): number
  /** @param ref whether the program waits for it before it ends */
  after(milliseconds: number, run: () => void, ref: boolean): Timer
  /** Runs it after what has arrived already. */
  soon(run: () => void): void
  /** A random UUID (RFC 9562, version 4). */
  uuid(): string
  /** A random whole number from `from` to `to`, both included; they are less than 2^48 apart. */
  integer(from: number, to: number): number
  files: SmallFiles
  processes: Processes
  /** Why a port of another machine accepts no connection; empty: it does. Left out: a connection is opened. */
  reach?: (host: string, port: number) => Promise<string>
  /** Opens connections to PostgreSQL; left out: by `pg`. */
  database?: (connectionString: string, connectMs: number) => DatabaseClient
}

/** The machine itself. */
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

/** Machine of the code that runs now. */
export function system(): System {
  return current()
}

/** Runs this process on other machines from now on. For the simulation. @param machine tells the machine of the code that runs now; undefined: it is of none, as the test itself */
export function replaceSystem(machine: () => System | undefined): void {
  current = () => machine() ?? ownSystem
}

import { randomInt, randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../files/durable-files.ts'
import type { DatabaseClient } from './database-client.ts'
import { ownProcesses, type Processes } from './processes.ts'
import { renameFile } from './rename-file.ts'

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

/** Small files of the data folder. Errors are those of Node's file system. */
export interface SmallFiles {
  readText(path: string): Promise<string>
  /** On disk, whole, when it resolves; the file from before stays when it rejects. Only its owner may read it. */
  replace(path: string, text: string): Promise<void>
  /** Does nothing where there is none. */
  remove(path: string): Promise<void>
}

/** Files of the machine itself. */
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

import { readFileSync } from 'node:fs'
import { truncate } from 'node:fs/promises'
import { hostname } from 'node:os'
import { hasCode } from '../../../shared/error-code.ts'
import { sleep } from '../../../shared/sleep.ts'

/** Identifies one process. Pids are reused, so the start time and the boot are part of the identity. */
export interface ProcessIdentity {
  pid: number
  /** Clock ticks since boot (proc(5), /proc/pid/stat field 22); empty if the system does not provide it. */
  started: string
  /** Identifier of this boot of the machine; empty if the system has none. */
  boot: string
  /** Host name of the machine or container. */
  host: string
}

/** Processes of the machine, for locks on a folder. */
export interface Processes {
  /** Returns the identity of this process. */
  own(): ProcessIdentity
  /**
   * Whether the process with this identity is still running. If the system does not provide start times, any process
   * with the same pid counts.
   */
  isAlive(identity: ProcessIdentity): boolean
  /** Locks a file until it is released or the process ends. */
  lock(path: string): Promise<ExclusiveLock>
}

/** Processes of the real machine. */
export const ownProcesses: Processes = {
  own: () => ({ pid: process.pid, started: startOf(process.pid), boot: bootId(), host: hostname() }),
  isAlive: ({ pid, started, boot }) => {
    const current = bootId()
    if (current !== '' && boot !== '' && current !== boot) return false
    try {
      process.kill(pid, 0)
    } catch (error) {
      if (hasCode(error, 'ESRCH')) return false
    }
    const found = startOf(pid)
    return found === '' || started === '' || found === started
  },
  lock: lockExclusively,
}

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may contain spaces and parentheses, so fields are counted from the end of the name (the
    // name is field 2).
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    // The process has ended, or the system is not Linux.
    return ''
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    // The system is not Linux.
    return ''
  }
}

/**
 * SQLite's result codes when another process holds the lock, and when the file is not an SQLite database
 * (sqlite.org/rescode.html).
 */
const busy = 5
const notADatabase = 26
/**
 * Number of attempts, and pause between them in milliseconds: two processes that start at the same instant may block
 * each other.
 */
const attempts = 5
const pauseMs = 15

/** Result of a request for the lock: the function that releases it, or the reason of the failure. */
export type ExclusiveLock = { release: () => void } | 'held by another' | { unavailable: unknown }

/**
 * Locks a file until this process ends: the kernel holds the lock (fcntl; LockFileEx on Windows) and releases it
 * however the process ends.
 * Unlike a pid in a file, the lock works between containers with separate process ids, and over NFS if NFS supports
 * locks.
 * Node has no function for such locks, so this uses the built-in SQLite, which locks an empty database.
 */
export async function lockExclusively(path: string): Promise<ExclusiveLock> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await take(path)
    } catch (error) {
      const code = codeOf(error)
      if (code === notADatabase && attempt < attempts) {
        // Another program wrote into the file. The file is emptied, not removed, because the lock belongs to the file
        // and not to its name.
        await truncate(path)
        continue
      }
      if (code !== busy) return { unavailable: error }
      if (attempt >= attempts) return 'held by another'
      await sleep(pauseMs)
    }
  }
}

async function take(path: string): Promise<ExclusiveLock> {
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // Holds SQLite's journal in memory, so that no second file is created.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    throw error
  }
  return { release: () => database.close() }
}

function codeOf(error: unknown): number {
  const code: unknown = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  // The low byte is the primary result code.
  return typeof code === 'number' ? code & 0xff : 0
}

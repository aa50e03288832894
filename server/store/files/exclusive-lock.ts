import { truncate } from 'node:fs/promises'
import { sleep } from '../../../shared/sleep.ts'

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

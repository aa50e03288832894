import { truncate } from 'node:fs/promises'
import { sleep } from '../../../shared/sleep.ts'

/** SQLite's result code when another holds the lock, and when the file is not one of its own (sqlite.org/rescode.html). */
const busy = 5
const notADatabase = 26
/** Two that start at the same instant get in each other's way: each tries again after a pause. */
const attempts = 5
const pauseMs = 15

/** Result of asking for the lock: the function that releases it, or the reason for the refusal. */
export type ExclusiveLock = { release: () => void } | 'held by another' | { unavailable: unknown }

/**
 * Locks a file for as long as this process lives: the kernel holds the lock (fcntl; LockFileEx on Windows) and drops it however the process ends.
 * It counts between containers with their own process ids, which a pid in a file does not, and over NFS where that carries locks.
 * Node has no call for such locks, so SQLite, which it brings along, takes one on an empty database.
 */
export async function lockExclusively(path: string): Promise<ExclusiveLock> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await take(path)
    } catch (error) {
      const code = codeOf(error)
      if (code === notADatabase && attempt < attempts) {
        // Somebody wrote into it. Emptied and not removed: the lock belongs to the file, not to its name.
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
    // In memory: no second file beside the locked one.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    throw error
  }
  return { release: () => database.close() }
}

function codeOf(error: unknown): number {
  const code: unknown = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  // The low byte is the code, the rest tells more of it.
  return typeof code === 'number' ? code & 0xff : 0
}

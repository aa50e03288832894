import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../../shared/error-code.ts'
import type { ProcessIdentity } from '../system/processes.ts'
import { system, uuid } from '../system/system.ts'
import { sleepOn } from '../system/time.ts'
import { renameFile } from '../system/rename-file.ts'

/** Thrown when another process uses the data folder. */
export class StoreLockedError extends Error {
  override readonly name = 'StoreLockedError'
  /** Process id of the owner on its own machine or container; 0: unknown. */
  readonly pid: number

  constructor(folder: string, { pid, host }: { pid: number; host: string }) {
    const who = pid === 0 ? 'another process' : `process ${pid}`
    const where = host === '' || host === hostname() ? '' : ` of ${host}`
    super(`The data folder ${folder} is in use by ${who}${where}: stop that process, or choose another data folder.`)
    this.pid = pid
  }
}

/** File in the data folder that names its owner. */
export const lockFileName = 'roomdesk.lock'
/** File in the data folder that its owner keeps locked. */
export const lockedFileName = 'roomdesk.locked'

/**
 * Locks the data folder for this process. If the owner of a lock is dead, the lock is taken over at once.
 * The kernel's lock on one file decides. Another file names the owner, for the error message and for file systems
 * without locks. A file system without locks must support hard links; there, a running process with the same pid, start
 * time and boot counts as the owner.
 * @param onUnavailable called with the reason when the file system supports no locks
 * @returns the function that releases the lock
 * @throws StoreLockedError when a running process holds the lock
 */
export async function lockFolder(
  folder: string,
  onUnavailable: (error: unknown) => void = () => undefined,
): Promise<() => Promise<void>> {
  const path = join(folder, lockFileName)
  const lock = await system().processes.lock(join(folder, lockedFileName))
  if (lock === 'held by another') {
    const owner = parseOwner((await readLock(path)) ?? '')
    throw new StoreLockedError(folder, owner ?? { pid: 0, host: '' })
  }
  if ('unavailable' in lock) {
    onUnavailable(lock.unavailable)
    return await claim(folder, path)
  }
  try {
    const remove = await nameOwner(path)
    return async () => {
      await remove()
      lock.release()
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Writes the identity of this process into a new file. @returns its path and content */
async function writeOwner(path: string): Promise<{ mine: string; text: string }> {
  const owner = system().processes.own()
  const mine = `${path}.${owner.pid}.${uuid().slice(0, 8)}`
  const text = `${JSON.stringify(owner)}\n`
  await writeFile(mine, text, { flag: 'wx', mode: 0o600 })
  return { mine, text }
}

/**
 * Replaces the owner file. This process holds the kernel's lock, so the owner in the file is dead, even if its process
 * id is in use again.
 */
async function nameOwner(path: string): Promise<() => Promise<void>> {
  const { mine, text } = await writeOwner(path)
  await renameFile(mine, path)
  return () => release(path, text)
}

/** Locks the folder by the owner file alone, on a file system without locks. */
async function claim(folder: string, path: string): Promise<() => Promise<void>> {
  const { mine, text } = await writeOwner(path)
  try {
    // A link is atomic and does not replace an existing file: the first process wins.
    for (let attempt = 0; attempt < 100; attempt++) {
      try {
        await link(mine, path)
        return () => release(path, text)
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error
      }
      await clearStale(folder, path, mine)
    }
    throw new Error(`The lock file ${path} keeps changing: try again.`)
  } finally {
    await rm(mine, { force: true })
  }
}

/**
 * Removes the lock if its owner is dead. @param mine file that names this process @throws StoreLockedError otherwise
 */
async function clearStale(folder: string, path: string, mine: string): Promise<void> {
  const seen = await readLock(path)
  if (seen === undefined) return
  const owner = parseOwner(seen)
  if (owner !== undefined && isAlive(owner)) throw new StoreLockedError(folder, owner)
  // Only one process at a time checks again and removes the lock. Otherwise the slower of two processes could remove
  // the new lock of the faster process.
  const turn = `${path}.takeover`
  try {
    await link(mine, turn)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    const other = await readLock(turn)
    if (other !== undefined && !isAlive(parseOwner(other))) await rm(turn, { force: true })
    // A random pause, different for each waiting process.
    await sleepOn(5 + (Number.parseInt(uuid().slice(0, 4), 16) % 20))
    return
  }
  try {
    if ((await readLock(path)) === seen) await rm(path, { force: true })
  } finally {
    await rm(turn, { force: true })
  }
}

/** Returns the content of a lock; undefined: none. */
async function readLock(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

async function release(path: string, text: string): Promise<void> {
  if ((await readLock(path)) === text) await rm(path, { force: true })
}

function parseOwner(text: string): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    if (!('pid' in value) || typeof value.pid !== 'number' || !Number.isSafeInteger(value.pid) || value.pid < 1)
      return undefined
    const started = 'started' in value && typeof value.started === 'string' ? value.started : ''
    const boot = 'boot' in value && typeof value.boot === 'string' ? value.boot : ''
    const host = 'host' in value && typeof value.host === 'string' ? value.host : ''
    return { pid: value.pid, started, boot, host }
  } catch {
    return undefined
  }
}

/** Whether the process that wrote the lock is still running. */
function isAlive(owner: ProcessIdentity | undefined): boolean {
  return owner !== undefined && system().processes.isAlive(owner)
}

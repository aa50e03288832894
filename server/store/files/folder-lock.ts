import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../../shared/error-code.ts'
import type { ProcessIdentity } from '../system/processes.ts'
import { uuid } from '../system/random.ts'
import { system } from '../system/system.ts'
import { sleep } from '../system/time.ts'
import { renameFile } from '../system/rename-file.ts'

/** Another process works on the data folder. */
export class StoreLockedError extends Error {
  override readonly name = 'StoreLockedError'
  /** Process id of the owner, as its own machine or container counts; 0: it has not said. */
  readonly pid: number

  constructor(folder: string, { pid, host }: { pid: number; host: string }) {
    const who = pid === 0 ? 'another process' : `process ${pid}`
    const where = host === '' || host === hostname() ? '' : ` of ${host}`
    super(`The data folder ${folder} is in use by ${who}${where}: stop that process, or choose another data folder.`)
    this.pid = pid
  }
}

/** Name of the file in the data folder that says who has it. */
export const lockFileName = 'roomdesk.lock'
/** Name of the file in the data folder that its owner keeps locked. */
export const lockedFileName = 'roomdesk.locked'

/**
 * Takes the data folder for this process. A lock whose owner is gone is taken over at once.
 * The kernel's lock on one file decides. Another file names the owner, for the message, and for file systems without locks: there a living process of that id, start and boot
 * counts as the owner; such a file system must have hard links.
 * @param onUnavailable called with the reason when the kernel gives no lock here.
 * @returns the function that gives it back.
 * @throws StoreLockedError when a living process holds it.
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

/** Writes who this is into a file of its own. @returns its path and content */
async function writeOwner(path: string): Promise<{ mine: string; text: string }> {
  const owner = system().processes.own()
  const mine = `${path}.${owner.pid}.${uuid().slice(0, 8)}`
  const text = `${JSON.stringify(owner)}\n`
  await writeFile(mine, text, { flag: 'wx', mode: 0o600 })
  return { mine, text }
}

/** The kernel's lock is ours: whoever the file names is gone, whatever runs under that process id now. */
async function nameOwner(path: string): Promise<() => Promise<void>> {
  const { mine, text } = await writeOwner(path)
  await renameFile(mine, path)
  return () => release(path, text)
}

/** Claims the folder by the file alone, on a file system without locks. */
async function claim(folder: string, path: string): Promise<() => Promise<void>> {
  const { mine, text } = await writeOwner(path)
  try {
    // A link is atomic and refuses to replace: the first one wins, content and all.
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

/** Removes the lock when its owner is gone. `mine` is a file that says who we are. */
async function clearStale(folder: string, path: string, mine: string): Promise<void> {
  const seen = await readLock(path)
  if (seen === undefined) return
  const owner = parseOwner(seen)
  if (owner !== undefined && isAlive(owner)) throw new StoreLockedError(folder, owner)
  // One at a time looks again and removes: of two who saw the same dead owner, the slower would remove the quicker one's lock.
  const turn = `${path}.takeover`
  try {
    await link(mine, turn)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    const other = await readLock(turn)
    if (other !== undefined && !isAlive(parseOwner(other))) await rm(turn, { force: true })
    // Another pause for each of those who wait.
    await sleep(5 + (Number.parseInt(uuid().slice(0, 4), 16) % 20))
    return
  }
  try {
    if ((await readLock(path)) === seen) await rm(path, { force: true })
  } finally {
    await rm(turn, { force: true })
  }
}

/** Content of a lock; undefined when there is none. */
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

/** Whether the very process that wrote the lock still runs. */
function isAlive(owner: ProcessIdentity | undefined): boolean {
  return owner !== undefined && system().processes.isAlive(owner)
}

import { chmod, readdir, stat } from 'node:fs/promises'
import { FolderOwnerError, makeOwnFolder, type OwnerOptions } from '../../../shared/files/folder-owner.ts'
import { insideOf, isPathPart } from '../../../shared/files/own-path.ts'
import { eventsFolder } from '../backups/backup-events.ts'
import type { StoreOptions } from '../store-options.ts'
import type { StoreNotice } from '../store.ts'
import { wallClock } from '../system/time.ts'
import { backupsFolder, documentFileName, documentNames } from './documents.ts'
import { lockFolder } from './folder-lock.ts'
import { refuseFilesOfSite } from './moved-site.ts'
import { StoreFileError } from './store-file-error.ts'

/** Files that identify an existing data folder as this site's. */
const known = ['site.json', 'seal.key', 'controller.id']
const advice = 'Make it the property of the user that runs Roomdesk (chown), or name another folder with --data-dir.'

/**
 * Creates the data folder, or uses the existing one.
 * @throws StoreFileError when the folder belongs to another user; errors of the file system
 */
export async function makeDataFolder(folder: string, options: OwnerOptions = {}): Promise<void> {
  try {
    await makeOwnFolder(folder, advice, { known, ...options })
  } catch (error) {
    if (!(error instanceof FolderOwnerError)) throw error
    throw new StoreFileError(error.message, { cause: error })
  }
}

/**
 * Locks the data folder of a controller whose site is in a database.
 * @param shown the database, for messages
 * @returns notices for the operator, and a function that releases the folder
 * @throws StoreLockedError when another process uses the folder; StoreFileError when it holds a site in files; errors
 * of makeDataFolder
 */
export async function takeDataFolder(
  { folder, logger, clock = wallClock }: Pick<StoreOptions, 'folder' | 'logger' | 'clock'>,
  shown: string,
): Promise<{ found: StoreNotice[]; unlock: () => Promise<void> }> {
  await makeDataFolder(folder)
  const unlock = await lockFolder(folder, (error) =>
    logger?.warn({ err: error }, 'The file system of the data folder gives no locks.'),
  )
  try {
    await refuseFilesOfSite(folder, shown)
    const mode = await closeToOthers(folder, clock())
    return { found: mode === undefined ? [] : [mode], unlock }
  } catch (error) {
    await unlock()
    throw error
  }
}

/** Permission bits of the group and others. */
const others = 0o077
/** Sticky bit: only owners may remove their files, so the folder is shared on purpose, like /tmp. */
const sticky = 0o1000
/** Sub-folders that belong to Roomdesk with all their content; `tls` contains the keys of self-signed certificates. */
const ourFolders: ReadonlySet<string> = new Set([backupsFolder, eventsFolder, 'tls'])

/**
 * Restricts the data folder and Roomdesk's files in it to their owner: 0700, files 0600.
 * Leaves the mode of the folder unchanged if the folder has another owner, is shared like /tmp, or contains foreign
 * files but no site.
 * Does nothing on Windows, where a folder inherits the rights of its parent.
 * @param now milliseconds since the epoch
 * @returns a notice for the operator; undefined: nothing to report
 */
export async function closeToOthers(folder: string, now: number): Promise<StoreNotice | undefined> {
  if (process.platform === 'win32') return undefined
  const { mode, uid } = await stat(folder)
  await narrowFiles(folder)
  if ((mode & others) === 0) return undefined
  const was = (mode & 0o777).toString(8).padStart(4, '0')
  const names = await readdir(folder)
  const occupied = names.some((name) => !isOurs(name)) && !names.includes(documentFileName('site'))
  if (uid === process.getuid?.() && (mode & sticky) === 0 && !occupied) {
    try {
      await chmod(folder, 0o700)
      if (((await stat(folder)).mode & others) === 0) {
        const message = `The data folder was open to others (${was}): it is now its owner's alone (0700).`
        return { level: 'info', at: now, code: 'folderClosed', message }
      }
    } catch {
      // Reported below.
    }
  }
  const message = `Others may look into the data folder ${folder} (${was}), and it cannot be closed to them: give Roomdesk a folder of its own (0700).`
  return { level: 'warning', at: now, code: 'folderOpen', message }
}

function isOurs(name: string): boolean {
  return (
    ourFolders.has(name) ||
    documentNames.some((document) => name.startsWith(`${document}.`)) ||
    /^(journal-\d+\.ndjson|high-water\.mark|losses\.json|figures\.ring|roomdesk\.lock|moved-|(seal|console)\.key)/.test(
      name,
    )
  )
}

/** Restricts files that an earlier version, or a copy, left open to others. A failure must not prevent the start. */
async function narrowFiles(folder: string, all = false): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!isPathPart(entry.name)) continue
    const path = insideOf(folder, entry.name)
    if (entry.isDirectory() && (all || ourFolders.has(entry.name))) {
      await narrow(path, 0o700)
      await narrowFiles(path, true)
    } else if (entry.isFile() && (all || isOurs(entry.name))) await narrow(path, 0o600)
  }
}

async function narrow(path: string, mode: number): Promise<void> {
  try {
    if (((await stat(path)).mode & others) !== 0) await chmod(path, mode)
  } catch {
    // The file has another owner, or was deleted meanwhile.
  }
}

import { FolderOwnerError, makeOwnFolder, type OwnerOptions } from '../../../shared/files/folder-owner.ts'
import type { StoreOptions } from '../store-options.ts'
import type { StoreNotice } from '../store.ts'
import { wallClock } from '../system/time.ts'
import { lockFolder } from './folder-lock.ts'
import { closeToOthers } from './folder-mode.ts'
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

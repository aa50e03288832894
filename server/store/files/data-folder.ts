import { FolderOwnerError, makeOwnFolder, type OwnerOptions } from '../../../shared/files/folder-owner.ts'
import { StoreFileError } from './store-file-error.ts'

/** Files by which an existing data folder is known to be this site's. */
const known = ['site.json', 'seal.key', 'controller.id']
const advice = 'Make it the property of the user that runs Roomdesk (chown), or name another folder with --data-dir.'

/** Makes the data folder, or takes the one that is there. @throws StoreFileError another user made it; Error of the file system */
export async function makeDataFolder(folder: string, options: OwnerOptions = {}): Promise<void> {
  try {
    await makeOwnFolder(folder, advice, { known, ...options })
  } catch (error) {
    if (!(error instanceof FolderOwnerError)) throw error
    throw new StoreFileError(error.message, { cause: error })
  }
}

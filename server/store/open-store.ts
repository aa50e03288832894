import { hasCode } from '../../shared/error-code.ts'
import { sleep } from '../../shared/sleep.ts'
import { DamagedFileError } from './files/document-reader.ts'
import { openFiles } from './files/open-files.ts'
import { readFolder } from './files/recovery.ts'
import { migrations } from './migrations.ts'
import type { State } from './state.ts'
import type { StoreOptions } from './store-options.ts'
import type { Store } from './store.ts'

/**
 * Opens a site whose state is in a database, or in files of the data folder.
 * @throws the errors of `openFiles` and `openDatabase`
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { database } = options
  if (database === undefined) return await openFiles(options)
  // Loaded on demand: a site in files does not need this module.
  const { openDatabase } = await import('./postgres/open-database.ts')
  return await openDatabase({ ...options, database })
}

/** Thrown if the files of a site cannot be read, even after several attempts. */
export class UnreadableSiteError extends Error {
  override readonly name = 'UnreadableSiteError'
}

const maxReadings = 5
const betweenReadingsMs = 200

/**
 * Reads a site without changing it, even while a controller is using it.
 * @param database address of the database with the site; undefined: the site is in files of the data folder
 * @throws UnreadableSiteError, StoreVersionError, DatabaseError
 */
export async function readSite(folder: string, database: string | undefined): Promise<State> {
  if (database === undefined) return await siteIn(folder)
  // Loaded on demand: a site in files does not need this module.
  const { siteInDatabase } = await import('../store/postgres/open-database.ts')
  return await siteInDatabase(database)
}

/** Reads a site in files. Retries after an inconsistent read, because the store may be switching files. */
async function siteIn(folder: string): Promise<State> {
  for (let reading = 1; ; reading += 1) {
    try {
      return (await readFolder(folder, migrations)).state
    } catch (error) {
      if (!(error instanceof DamagedFileError) && !hasCode(error, 'ENOENT')) throw error
      if (reading === maxReadings)
        throw new UnreadableSiteError(`The files of the site in ${folder} cannot be read.`, { cause: error })
    }
    await sleep(betweenReadingsMs)
  }
}

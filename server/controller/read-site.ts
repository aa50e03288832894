import { sleep } from '../../shared/sleep.ts'
import { hasCode } from '../../shared/error-code.ts'
import { DamagedFileError } from '../store/files/document-reader.ts'
import { readFolder } from '../store/files/recovery.ts'
import { migrations } from '../store/migrations.ts'
import type { State } from '../store/state.ts'

/** Thrown when the files of a site cannot be read, nor a moment later. */
export class UnreadableSiteError extends Error {
  override readonly name = 'UnreadableSiteError'
}

const maxReadings = 5
const betweenReadingsMs = 200

/**
 * Reads a site while a controller may be working on it. Changes nothing.
 * @param database address of the database that holds it; undefined: the files of the data folder do
 * @throws UnreadableSiteError, StoreVersionError, DatabaseError
 */
export async function readSite(folder: string, database: string | undefined): Promise<State> {
  if (database === undefined) return await siteIn(folder)
  // Loaded here, because a site in files does not need it.
  const { siteInDatabase } = await import('../store/postgres/open-database.ts')
  return await siteInDatabase(database)
}

/** Reads again after an inconsistent reading: the store was between two files. */
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

import { openFiles } from './files/open-files.ts'
import type { Store } from './store.ts'
import type { StoreOptions } from './store-options.ts'

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

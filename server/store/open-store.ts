import { openFiles } from './files/open-files.ts'
import type { Store } from './store.ts'
import type { StoreOptions } from './store-options.ts'

/**
 * Opens a site: its state is in a database, or in files of the data folder.
 * @throws what `openFiles` and `openDatabase` throw
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { database } = options
  if (database === undefined) return await openFiles(options)
  // A site in files does not load what it does not use.
  const { openDatabase } = await import('./postgres/open-database.ts')
  return await openDatabase({ ...options, database })
}

import { join } from 'node:path'
import { loadKeyFile } from '../../../server/store/files/key-file.ts'
import { openStore } from '../../../server/store/open-store.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import type { Store } from '../../../server/store/store.ts'
import { createRoom, credential, session, temporaryFolder } from '../../support/sites/store-site.ts'

/** Opens a site with the key of its folder, as a controller does. */
export async function startStore(folder: string, database?: string): Promise<Store> {
  const sealer = createSealer(await loadKeyFile(join(folder, 'seal.key')))
  return await openStore({ folder, database, sealer })
}

/** A data folder with a site in files. */
export async function siteInFiles(rooms = 30, topic = (number: number) => `会议 ${number}`): Promise<string> {
  const folder = await temporaryFolder()
  const store = await startStore(folder)
  await store.transact([], (transaction) => transaction.put('credentials', 'a', credential('a')))
  for (let i = 0; i < rooms; i++) await createRoom(store, `room-${i}`, topic(i))
  await store.transact([], (transaction) => transaction.delete('rooms', `room-${rooms - 1}`))
  store.writeBehind('sessions', 'token', session())
  await store.close()
  return folder
}

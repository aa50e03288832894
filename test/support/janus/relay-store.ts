import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openStore } from '../../../server/store/open-store.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import type { Store } from '../../../server/store/store.ts'
import { storedRoom } from '../stored-records.ts'

/** Opens a store with a room on these nodes; removed with the test. */
export async function openRelayStore(room: string, [node = '', ...branches]: readonly string[]): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-relays-'))
  const store = await openStore({ folder, sealer: createSealer(Buffer.alloc(32, 1)), deadlineMs: () => 5_000 })
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
  await store.transact([room], (transaction) => transaction.put('rooms', room, storedRoom(room, { node, branches })))
  return store
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../../server/store/open-store.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import type { Store } from '../../../server/store/store.ts'

/** A store in a folder of its own. */
export interface TemporaryStore {
  store: Store
  folder: string
  /** Closes it and opens the same folder again, as a restart does. */
  reopen(): Promise<Store>
  /** Closes it and removes the folder. */
  remove(): Promise<void>
}

/** Opens one. @param deadlineMs how long a change may take */
export async function temporaryStore(deadlineMs = (): number => 5_000): Promise<TemporaryStore> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-access-'))
  const open = () => openStore({ folder, sealer: createSealer(Buffer.alloc(32, 1)), deadlineMs })
  let store = await open()
  return {
    folder,
    get store() {
      return store
    },
    async reopen() {
      await store.close()
      store = await open()
      return store
    },
    async remove() {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

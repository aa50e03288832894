import { cpSync, existsSync, rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { StuckDisk } from '../../../server/lab/stuck-disk.ts'
import { lockFileName } from '../../../server/store/files/folder-lock.ts'
import { openStore } from '../../../server/store/open-store.ts'
import type { StoreOptions } from '../../../server/store/store-options.ts'
import type { StoredCredential, StoredRoom, StoredSession } from '../../../server/store/records.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import type { Store } from '../../../server/store/store.ts'
import { sealedPlaceOf } from '../../../server/store/sealed-places.ts'
import { storedRoom } from '../stored-records.ts'

export const sealer = createSealer(Buffer.alloc(32, 7))

/** Disk in memory if there is one: crash tests do not depend on the disk, and a slow one does not fail them. */
const memoryDisk = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Makes an empty folder that is removed with the test. */
export async function temporaryFolder(on: string = memoryDisk): Promise<string> {
  const folder = await mkdtemp(join(on, 'roomdesk-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

export function open(folder: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  return openStore({ folder, sealer, ...options })
}

/** A store in a folder of its own. */
export interface TemporaryStore extends AsyncDisposable {
  store: Store
  /** Holds flushes of the store back. */
  stuckDisk: StuckDisk
  folder: string
  /** Closes it and opens the same folder again, like a restart. */
  reopen(): Promise<Store>
  /** Closes it and removes the folder. */
  remove(): Promise<void>
}

/** Opens a store that its test file removes. @param deadlineMs timeout of one change, in milliseconds */
export async function temporaryStore(deadlineMs = (): number => 5_000): Promise<TemporaryStore> {
  const folder = await mkdtemp(join(memoryDisk, 'roomdesk-store-'))
  const stuckDisk = new StuckDisk()
  const options = { deadlineMs, flushGate: stuckDisk }
  let store = await open(folder, options)
  const remove = async (): Promise<void> => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
  return {
    folder,
    stuckDisk,
    get store() {
      return store
    },
    async reopen() {
      await store.close()
      store = await open(folder, options)
      return store
    },
    remove,
    [Symbol.asyncDispose]: remove,
  }
}

/** Copies the folder as a crash at this moment leaves it, without the lock of this process. No code of ours runs during the copy. */
export async function crashCopy(folder: string): Promise<string> {
  const copy = await temporaryFolder()
  cpSync(folder, copy, { recursive: true })
  rmSync(join(copy, lockFileName), { force: true })
  return copy
}

export function room(roomId: string, id: number, topic = 'A topic'): StoredRoom {
  return storedRoom(roomId, { id, topic, owner_id: 'owner', created_by: 'demo_access', created_at: 1_790_000_000_000 })
}

export function session(usedAt = 1): StoredSession {
  return { access_key: 'demo_access', form: 'sha1-hex', created_at: 1, used_at: usedAt }
}

export function credential(key: string, secret = 'secret'): StoredCredential {
  return {
    access_key: key,
    secret_key_sealed: sealer.seal(secret, sealedPlaceOf('credentials', key)),
    label: key,
    enabled: true,
    p2p: false,
    created_at: 1,
    rotated_at: 1,
  }
}

export async function createRoom(store: Store, roomId: string, topic?: string): Promise<void> {
  await store.transact([`rooms/${roomId}`], (transaction) => {
    transaction.put('rooms', roomId, room(roomId, store.nextRoomNumber(), topic))
  })
}

/** Topics of all rooms, by room_id, in order. */
export function topics(store: Store): Record<string, string> {
  return Object.fromEntries([...store.all('rooms')].map(([key, { topic }]) => [key, topic]))
}

/** Finds the last journal segment. */
export async function lastSegment(folder: string): Promise<string> {
  const name = (await readdir(folder))
    .filter((file) => /^journal-\d+\.ndjson$/.test(file))
    .sort()
    .at(-1)
  if (name === undefined) throw new Error('There is no journal.')
  return join(folder, name)
}

/** Reads every file of a folder. */
export async function contents(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile())
      files.set(join(entry.parentPath, entry.name), await readFile(join(entry.parentPath, entry.name), 'base64'))
  }
  return files
}

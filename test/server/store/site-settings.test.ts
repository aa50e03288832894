import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { StoredNode, StoredSettings } from '../../../server/store/records.ts'
import { putSettings, siteSettings } from '../../../server/store/site-settings.ts'
import type { Store } from '../../../server/store/store.ts'
import type { Licence } from '../../../shared/licence.ts'
import { completeSettings, defaultSettings, type Settings } from '../../../shared/settings.ts'
import { storedNode } from '../../support/stored-records.ts'
import { contents, crashCopy, createRoom, open, temporaryFolder } from '../../support/sites/store-site.ts'

const server = { urls: ['turn:turn.example.org'], username: 'u', credential: 'a TURN secret' }
const withServer = (): Settings => {
  const settings = defaultSettings()
  return { ...settings, media: { ...settings.media, ice_servers: [server] } }
}

/** Stores settings like earlier versions: with credentials in plain text. */
async function putClear(store: Store): Promise<void> {
  await store.transact([], (transaction) =>
    transaction.put('settings', 'site', withServer() as unknown as StoredSettings),
  )
}

/** Lists the files that contain the credential in plain text. */
async function filesInTheClear(folder: string): Promise<string[]> {
  const files = [...(await contents(folder))]
  return files.flatMap(([path, bytes]) =>
    Buffer.from(bytes, 'base64').includes(server.credential) ? [path.slice(folder.length + 1)] : [],
  )
}

test('The credential of a TURN server is sealed wherever settings are stored, and still works after a restart', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await store.transact([], (transaction) => putSettings(transaction, withServer(), store))
  await store.backups.make()
  expect(siteSettings(store)).toEqual(withServer())
  expect(siteSettings(store)).toBe(siteSettings(store))
  await store.close()
  expect(await filesInTheClear(folder)).toEqual([])
  const again = await open(folder)
  expect(siteSettings(again)).toEqual(withServer())
  await again.close()
})

test('Secrets that an earlier version stored in plain text are sealed at the next start: in the files, the journal and every backup', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await putClear(store)
  await createRoom(store, '1')
  const { name } = await store.backups.make()
  await createRoom(store, '2')
  await store.backups.make()
  await putClear(store)
  await store.close()
  expect((await filesInTheClear(folder)).length).toBeGreaterThan(3)
  const clearBackup = join(await temporaryFolder(), name)
  await cp(join(folder, 'backups', name), clearBackup, { recursive: true })

  const next = await open(folder)
  expect(await filesInTheClear(folder)).toEqual([])
  expect(siteSettings(next)).toEqual(withServer())
  expect(next.all('rooms').size).toBe(2)
  expect(await next.backups.list()).toHaveLength(2)
  await next.transact([], (transaction) => putSettings(transaction, defaultSettings(), next))
  await next.restore.run(name)
  expect(siteSettings(next)).toEqual(withServer())
  expect(next.all('rooms').size).toBe(1)

  // A backup from another disk is restored.
  await next.transact([], (transaction) => putSettings(transaction, defaultSettings(), next))
  await cp(clearBackup, join(folder, 'backups', name), { recursive: true })
  await next.restore.run(name)
  expect(siteSettings(next)).toEqual(withServer())
  await next.close()
  expect(await filesInTheClear(folder)).toEqual([join('backups', name, 'site.json')])
})

test('A site whose sealing key was lost keeps running without the credential', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await store.transact([], (transaction) => putSettings(transaction, withServer(), store))
  const unseal = (): never => {
    throw new Error('sealed with another key')
  }
  const settings = siteSettings({ get: (collection, key) => store.get(collection, key), unseal })
  expect(settings.media.ice_servers).toEqual([{ ...server, credential: '' }])
  await store.close()
})

test('Settings of an earlier version have every field of this one, at any depth; invalid values have their default', () => {
  const { deadlines, media, ...others } = withServer()
  const { node_ms: _, ...someDeadlines } = { ...deadlines, store_ms: 7_000, forgotten: 1 }
  const { publish_bitrate: __, ...someMedia } = media
  const stored = { ...others, deadlines: someDeadlines, media: { ...someMedia, ban_ms: -1 }, cors_origins: undefined }
  const wanted = withServer()
  expect(completeSettings(stored)).toEqual({ ...wanted, deadlines: { ...wanted.deadlines, store_ms: 7_000 } })
  expect(completeSettings({})).toEqual(defaultSettings())
  expect(completeSettings(null)).toEqual(defaultSettings())
})

test('A licence and a node of an earlier version have every field of this one', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await store.transact([], (transaction) => {
    transaction.put('licence', 'site', { max_rooms: 7 } as Licence)
    transaction.put('nodes', 'old', { name: 'old', kind: 'simulated', enabled: false } as StoredNode)
  })
  // From the journal, and from the files.
  const copies = [await crashCopy(folder)]
  await store.backups.make()
  await store.close()
  copies.push(folder)
  for (const each of copies) {
    const again = await open(each)
    expect(again.get('licence', 'site')).toEqual({ expires_at: '', max_rooms: 7, max_users: 0 })
    expect(again.get('nodes', 'old')).toEqual(storedNode('old', { enabled: false, created_at: 0 }))
    await again.close()
  }
})

import { expect, onTestFinished, test } from 'vitest'
import { resealSecrets } from '../../../server/access/reseal-secrets.ts'
import { applySiteFile } from '../../../server/controller/site-file.ts'
import { changedDevice } from '../../../server/devices/device-record.ts'
import { loginOf } from '../../../server/devices/stored-login.ts'
import { janusAccess, janusSecretsAfter } from '../../../server/nodes/secrets/janus-access.ts'
import { createLog } from '../../../server/observe/log.ts'
import type { StoredDevice, StoredNode } from '../../../server/store/records.ts'
import { devicePlace, nodePlace, objectStoragePlace } from '../../../server/store/sealed-places.ts'
import type { SealedPlace } from '../../../server/store/sealer.ts'
import { isSealedForPlaces, putSettings, siteSettings } from '../../../server/store/site-settings.ts'
import type { Store } from '../../../server/store/store.ts'
import { nodeInputSchema } from '../../../shared/node.ts'
import { hiddenSecret } from '../../../shared/hidden-secret.ts'
import { defaultSettings, keepHiddenSecrets, mergeSettings } from '../../../shared/settings.ts'
import { controllerSite } from '../../support/sites/controller-site.ts'
import { temporaryStore } from '../../support/sites/store-site.ts'
import { passwordOf, storedNode } from '../../support/stored-records.ts'

const janus = { kind: 'janus', ws_url: 'ws://10.0.0.7:8188', admin_url: 'http://10.0.0.7:7088/admin' } as const
const secrets = { api_secret: 'api', admin_secret: 'admin', admin_key: 'key', token_secret: 'token' }
const storage = { endpoint: 'https://s3.example', access_key_id: 'id', secret_access_key: 'of-the-bucket' }

async function openStore(): Promise<Store> {
  const site = await temporaryStore()
  onTestFinished(() => site.remove())
  return site.store
}

function camera(fields: Partial<StoredDevice> = {}): StoredDevice {
  return {
    ...{ roomId: 'r', userId: 'cam', userName: 'cam', userAddress: 'rtsp://10.0.0.9/live', userData: '' },
    ...{ options: { login_name: 'admin' }, login_password_sealed: '', paused: true, created_at: 1 },
    ...fields,
  }
}

/** Stores a camera, a Janus node and an object storage, each with a secret. @param seal for places of this version, or of the one before */
async function fill(store: Store, seal: (secret: string, place: SealedPlace) => string): Promise<void> {
  await store.transact([], (transaction) => {
    const device = camera()
    transaction.put('devices', 'cam', { ...device, login_password_sealed: seal('of the camera', devicePlace(device)) })
    const node = storedNode('j', janus)
    const made = { room_key: 'r'.repeat(43), event_secret: 'e'.repeat(43) }
    transaction.put('nodes', 'j', {
      ...node,
      secrets_sealed: seal(JSON.stringify({ ...secrets, ...made }), nodePlace(node)),
    })
    putSettings(transaction, mergeSettings(undefined, { object_storage: storage }), store)
  })
}

/** Changes records as somebody does who writes to the database or the files. */
async function moveAll(store: Store): Promise<void> {
  await store.transact([], (transaction) => {
    const [device, node, settings] = [
      store.get('devices', 'cam'),
      store.get('nodes', 'j'),
      store.get('settings', 'site'),
    ]
    if (device === undefined || node === undefined || settings?.object_storage === undefined) throw new Error('no site')
    transaction.put('devices', 'cam', { ...device, userAddress: 'rtsp://203.0.113.1/live' })
    transaction.put('nodes', 'j', { ...node, ws_url: 'ws://203.0.113.1:8188' })
    const object_storage = { ...settings.object_storage, endpoint: 'https://elsewhere.example' }
    transaction.put('settings', 'site', { ...settings, object_storage })
  })
}

function opened(store: Store): unknown[] {
  const attempt = (read: () => unknown): unknown => {
    try {
      return read()
    } catch {
      return ''
    }
  }
  const [device, node] = [store.get('devices', 'cam'), store.get('nodes', 'j')]
  return [
    attempt(() => device && loginOf(device, store)?.password),
    attempt(() => node && janusAccess(node, store).secrets.admin_secret),
    siteSettings(store).object_storage.secret_access_key,
  ]
}

test('A secret does not open once its record names another address', async () => {
  const store = await openStore()
  await fill(store, (secret, place) => store.seal(secret, place))
  expect(opened(store)).toEqual(['of the camera', 'admin', 'of-the-bucket'])
  await moveAll(store)
  expect(opened(store)).toEqual(['', '', ''])
})

test('Secrets of the previous version open, are sealed for their addresses once, and then open nowhere else', async () => {
  const store = await openStore()
  await fill(store, (secret, place) => store.seal(secret, 'of' in place ? place.of : place))
  await store.transact([], (transaction) => {
    const settings = store.get('settings', 'site')
    if (settings?.object_storage === undefined) throw new Error('no settings')
    const place = objectStoragePlace(storage)
    const secret_sealed = store.seal(storage.secret_access_key, 'of' in place ? place.of : place)
    const { sealed_for_addresses: _, ...unmarked } = settings
    transaction.put('settings', 'site', {
      ...unmarked,
      sealed_for_places: true,
      object_storage: { ...settings.object_storage, secret_sealed },
    })
  })
  const texts = (): string[] => [
    store.get('devices', 'cam')?.login_password_sealed ?? '',
    store.get('nodes', 'j')?.secrets_sealed ?? '',
    store.get('settings', 'site')?.object_storage?.secret_sealed ?? '',
  ]
  const old = texts()
  expect(old.every((text) => text.startsWith('sealed:v2:'))).toBe(true)
  expect(opened(store)).toEqual(['of the camera', 'admin', 'of-the-bucket'])
  await resealSecrets(store, new AbortController().signal, createLog('silent'))
  expect(isSealedForPlaces(store)).toBe(true)
  expect(texts().every((text) => text.startsWith('sealed:v3:'))).toBe(true)
  expect(opened(store)).toEqual(['of the camera', 'admin', 'of-the-bucket'])
  await moveAll(store)
  expect(opened(store)).toEqual(['', '', ''])
  // A text of that version opens no more either.
  await store.transact([], (transaction) =>
    transaction.put('devices', 'cam', camera({ login_password_sealed: old[0] ?? '' })),
  )
  expect(opened(store)[0]).toBe('')
})

test('A camera keeps its password on its own host, and requires it again for another host', async () => {
  const store = await openStore()
  await fill(store, (secret, place) => store.seal(secret, place))
  const change = async (changes: Parameters<typeof changedDevice>[1]): Promise<void> => {
    await store.transact([], (transaction) => {
      transaction.put('devices', 'cam', changedDevice(store.get('devices', 'cam') ?? camera(), changes, store))
    })
  }
  await change({ userAddress: 'rtsp://10.0.0.9/other', assist_address: 'rtsp://10.0.0.9/small' })
  await change({ userAddress: 'rtsp://10.0.0.9:554/again', userName: 'Door' })
  expect(passwordOf(store, 'cam')).toBe('of the camera')
  await expect(change({ userAddress: 'rtsp://203.0.113.1/live' })).rejects.toMatchObject({ field: 'login_password' })
  await change({ userAddress: 'rtsp://203.0.113.1/live', assist_address: '', login_password: 'of the camera' })
  expect(passwordOf(store, 'cam')).toBe('of the camera')
})

test('Another address of a Janus node requires its secrets again, from the console', async () => {
  const site = await controllerSite({ nodes: [{ name: 'j', ...janus, ...secrets, enabled: false }] })
  const key = await site.key()
  const moved = { name: 'j', ...janus, enabled: false, ws_url: 'ws://203.0.113.1:8188' }
  const hidden = Object.fromEntries(Object.keys(secrets).map((name) => [name, hiddenSecret]))
  for (const given of [moved, { ...moved, ...hidden }])
    expect(await site.result(key, 'nodes.update', given)).toMatchObject({
      error: { name: 'nodeSecretsElsewhere', problems: [{}, {}, {}, {}] },
    })
  expect((await site.call(key, 'nodes.update', { ...moved, ...secrets })).secrets).toEqual(Object.keys(secrets))
  const none = Object.fromEntries(Object.keys(secrets).map((name) => [name, '']))
  expect((await site.call(key, 'nodes.update', { ...moved, ...janus, ...none })).secrets).toEqual([])
})

test('A site file that names another address discards the secrets that it leaves out', async () => {
  const store = await openStore()
  await fill(store, (secret, place) => store.seal(secret, place))
  const before = janusAccess(store.get('nodes', 'j') ?? storedNode('j'), store)
  const node = nodeInputSchema.parse({ name: 'j', ...janus, ws_url: 'ws://203.0.113.1:8188', token_secret: 'new' })
  await applySiteFile(store, { nodes: [node], settings: { object_storage: { endpoint: 'https://elsewhere.example' } } })
  const after = janusAccess(store.get('nodes', 'j') ?? storedNode('j'), store)
  expect(after.given).toEqual(['token_secret'])
  expect(Object.values(before.secrets).filter((secret) => Object.values(after.secrets).includes(secret))).toEqual([])
  expect(siteSettings(store).object_storage.secret_access_key).toBe('')
})

test('Secrets generated for a Janus node stay while the node stays on its host', async () => {
  const store = await openStore()
  const first = { ...nodeInputSchema.parse({ name: 'j', kind: 'janus', ws_url: 'ws://10.0.0.7:8188' }) }
  const node: StoredNode = storedNode('j', {
    ...janus,
    admin_url: '',
    secrets_sealed: janusSecretsAfter(first, undefined, store),
  })
  const keyAfter = (fields: object): string => {
    const input = nodeInputSchema.parse({ ...first, ...fields })
    const after = { ...node, ws_url: input.ws_url, admin_url: input.admin_url }
    return janusAccess({ ...after, secrets_sealed: janusSecretsAfter(input, node, store) }, store).secrets.room_key
  }
  const own = janusAccess(node, store).secrets.room_key
  expect(keyAfter({ admin_url: janus.admin_url })).toBe(own)
  expect(keyAfter({ ws_url: 'wss://10.0.0.7:8989' })).toBe(own)
  expect(keyAfter({ ws_url: 'ws://203.0.113.1:8188' })).not.toBe(own)
})

test('An object storage on this machine stored by an earlier version keeps working', async () => {
  const store = await openStore()
  for (const [endpoint, networks] of [
    ['http://127.0.0.1:9000', ['127.0.0.0/8', '::1']],
    ['http://localhost:9000', ['127.0.0.0/8', '::1']],
    ['https://s3.example', []],
  ] as const) {
    await store.transact([], (transaction) => {
      putSettings(transaction, mergeSettings(undefined, { object_storage: { ...storage, endpoint } }), store)
    })
    await store.transact([], (transaction) => {
      const settings = store.get('settings', 'site')
      if (settings?.object_storage === undefined) throw new Error('no settings')
      const { networks: _, ...before } = settings.object_storage
      transaction.put('settings', 'site', { ...settings, object_storage: before })
    })
    expect(siteSettings(store).object_storage).toMatchObject({ networks, ...storage, endpoint })
  }
})

test('A hidden credential of a TURN server or an object storage stays at its addresses only', () => {
  const ice = { urls: ['turn:10.0.0.1'], username: 'user', credential: 'of the relay' }
  const before = mergeSettings(defaultSettings(), { media: { ice_servers: [ice] }, object_storage: storage })
  const kept = (urls: string[], endpoint: string): unknown[] => {
    const hidden = { ...ice, urls, credential: hiddenSecret }
    const patch = keepHiddenSecrets({ media: { ice_servers: [hidden] }, object_storage: { endpoint } }, before)
    const after = mergeSettings(before, patch)
    return [after.media.ice_servers[0]?.credential, after.object_storage.secret_access_key]
  }
  expect(kept(ice.urls, storage.endpoint)).toEqual(['of the relay', 'of-the-bucket'])
  expect(kept(['turn:203.0.113.1'], 'https://elsewhere.example')).toEqual(['', ''])
  expect(kept(['turn:10.0.0.1:3478?transport=tcp', 'turns:10.0.0.1:5349'], storage.endpoint)[0]).toBe('of the relay')
  for (const url of ['turn:203.0.113.1', 'turn:10.0.0.1.example', 'turn:[10.0.0.1]'])
    expect(kept([...ice.urls, url], storage.endpoint)[0], url).toBe('')
})

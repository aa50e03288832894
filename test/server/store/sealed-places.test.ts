import { describe, expect, onTestFinished, test } from 'vitest'
import { hashPassword } from '../../../server/access/accounts/password-hash.ts'
import { Controller } from '../../../server/controller/controller.ts'
import { createLog } from '../../../server/observe/log.ts'
import { migrations, StoreVersionError } from '../../../server/store/migrations.ts'
import type { StoreOptions } from '../../../server/store/store-options.ts'
import { devicePlace, sealedPlaceOf } from '../../../server/store/sealed-places.ts'
import { isSealedForPlaces, putSettings } from '../../../server/store/site-settings.ts'
import type { Store } from '../../../server/store/store.ts'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import type { ConsoleResult } from '../../../shared/domain/outcome.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { sealedBefore } from '../../support/sealed-before.ts'
import { passwordOf as passwordOfCamera, storedNode } from '../../support/stored-records.ts'
import { drivers, type StoredSite } from './drivers.ts'
import { credential, room, sealer } from '../../support/sites/store-site.ts'

const key = Buffer.alloc(32, 7)
const before: Partial<StoreOptions> = {
  migrations: { current: 3, steps: new Map([...migrations.steps].filter(([from]) => from < 3)) },
}
const cheap = { ln: 4, r: 8, p: 1 }

/** Starts a controller on a site. */
async function start(site: StoredSite): Promise<Controller> {
  const { folder, database } = { database: undefined, ...site }
  const controller = await Controller.open({
    dataFolder: folder,
    database,
    sealer,
    logger: createLog('silent'),
    version: 'test',
    passwordCost: cheap,
    overrides: { media_port: 0, device_port: 0, node_port: 0, console_port: 0, event_port: 0 },
  })
  onTestFinished(() => controller.stop(0))
  await controller.start()
  return controller
}

async function ask<N extends ProcedureName>(
  controller: Controller,
  name: N,
  input: ProcedureInput<N>,
): Promise<ConsoleResult<ProcedureOutput<N>>> {
  const result = await controller.dispatch(name, input, { transport: 'internal', client: '', role: 'admin' })
  return result as ConsoleResult<ProcedureOutput<N>>
}

function device(userId: string, roomId: string, sealed: string) {
  return {
    ...{ roomId, userId, userName: userId, userAddress: 'rtsp://10.0.0.9/live', userData: '', options: {} },
    ...{ login_password_sealed: sealed, paused: true, created_at: 1 },
  }
}

/** Lists the sealed texts of a site, by collection and key. */
function sealedTexts(store: Store): string[] {
  return (['credentials', 'nodes', 'devices', 'rooms', 'accounts', 'settings'] as const).flatMap((collection) =>
    [...JSON.stringify([...store.all(collection)]).matchAll(/sealed:v\d/g)].map(([text]) => `${collection} ${text}`),
  )
}

/** A site of the previous version, with a secret of each kind. */
async function oldSite(site: StoredSite): Promise<void> {
  const store = await site.open(before)
  const old = (secret: string): string => sealedBefore(key, secret)
  const hash = await hashPassword('correct horse battery', cheap)
  await store.transact([], (transaction) => {
    putSettings(transaction, defaultSettings(), store)
    transaction.put('credentials', 'lobby', { ...credential('lobby'), secret_key_sealed: old('of the lobby') })
    const embedded = { token_key: Buffer.alloc(32, 3).toString('base64') }
    const node = storedNode('media', {
      kind: 'embedded',
      enabled: false,
      secrets_sealed: old(JSON.stringify(embedded)),
    })
    transaction.put('nodes', 'media', node)
    for (let number = 1; number <= 120; number++) {
      const id = `r${number}`
      transaction.put('rooms', id, { ...room(id, number), host_password_sealed: old(`host of ${id}`) })
    }
    transaction.put('devices', 'cam', device('cam', 'r1', old('of the camera')))
    transaction.put('accounts', 'a1', {
      ...{ id: 'a1', name: 'ann', role: 'admin' as const, enabled: true, password_sealed: old(hash) },
      ...{ stamp: 's', created_at: 1, password_changed_at: 1 },
    })
  })
  await store.transact(['settings'], (transaction) => {
    const settings = store.get('settings', 'site')
    if (settings === undefined) throw new Error('no settings')
    const { sealed_for_places: _, sealed_for_addresses: __, ...unmarked } = settings
    const ice = { urls: ['turn:10.0.0.1'], username: 'u', credential_sealed: old('of the relay') }
    transaction.put('settings', 'site', { ...unmarked, media: { ...unmarked.media, ice_servers: [ice] } })
  })
  await store.close()
}

describe.each(drivers())('In $name', (driver) => {
  test('a secret moved into another record cannot be opened there, like a damaged one', async () => {
    const site = await driver.site()
    const store = await site.open()
    await store.transact([], (transaction) => {
      putSettings(transaction, defaultSettings(), store)
      const camera = device('cam', 'own', '')
      const sealed = store.seal('of the camera', devicePlace(camera))
      transaction.put('devices', 'cam', { ...camera, login_password_sealed: sealed })
      const own = store.seal('of the host', sealedPlaceOf('rooms', 'own'))
      transaction.put('rooms', 'own', { ...room('own', 1), host_password_sealed: own })
      transaction.put('rooms', 'moved', { ...room('moved', 2), host_password_sealed: sealed })
      transaction.put('rooms', 'copied', { ...room('copied', 3), host_password_sealed: own })
      const old = sealedBefore(key, 'of an old camera')
      transaction.put('rooms', 'old', { ...room('old', 4), host_password_sealed: old })
      transaction.put('rooms', 'damaged', {
        ...room('damaged', 5),
        host_password_sealed: `${own.slice(0, -8)}AAAAAAAA`,
      })
    })
    await store.close()
    const controller = await start(site)
    const passwordOf = (room_id: string) => ask(controller, 'rooms.reveal_password', { room_id })
    expect(await passwordOf('own')).toEqual({ ok: true, value: { host_password: 'of the host' } })
    const damaged = await passwordOf('damaged')
    expect(damaged).toMatchObject({ ok: false, error: { code: 'internal' } })
    for (const moved of ['moved', 'copied', 'old']) expect(await passwordOf(moved)).toEqual(damaged)
  })

  test('a site of the previous version starts, opens everything, keeps changes made meanwhile, and seals them for their records', async () => {
    const site = await driver.site()
    await oldSite(site)
    const controller = await start(site)
    const passwordOf = async (room_id: string) => {
      const result = await ask(controller, 'rooms.reveal_password', { room_id })
      return result.ok ? result.value.host_password : result.error.message
    }
    const ids = Array.from({ length: 120 }, (_, index) => `r${index + 1}`)
    const topics = Promise.all(
      ids.map((room_id) => ask(controller, 'rooms.update', { room_id, topic: `new ${room_id}` })),
    )
    const revealed = ask(controller, 'credentials.reveal', { access_key: 'lobby' })
    expect(await revealed).toMatchObject({ ok: true, value: { secret_key: 'of the lobby' } })
    expect((await topics).filter(({ ok }) => !ok)).toEqual([])
    expect(await Promise.all(ids.map(passwordOf))).toEqual(ids.map((id) => `host of ${id}`))
    await controller.sealed
    expect(await Promise.all(ids.map(passwordOf))).toEqual(ids.map((id) => `host of ${id}`))
    await controller.stop(0)

    const store = await site.open()
    expect(isSealedForPlaces(store)).toBe(true)
    expect(sealedTexts(store)).toHaveLength(125)
    expect(sealedTexts(store).filter((text) => text.endsWith('v1'))).toEqual([])
    expect(ids.map((id) => store.get('rooms', id)?.topic)).toEqual(ids.map((id) => `new ${id}`))
    expect(passwordOfCamera(store, 'cam')).toBe('of the camera')
    await store.close()
    await expect(site.open(before)).rejects.toBeInstanceOf(StoreVersionError)
  })

  test('a backup of the previous version is restored with its secrets sealed for their records', async () => {
    const site = await driver.site()
    await oldSite(site)
    const old = await site.open()
    const backup = await old.backups.make()
    await old.close()
    const controller = await start(site)
    await controller.sealed
    await controller.stop(0)
    const store = await site.open()
    await store.transact([], (transaction) => transaction.delete('rooms', 'r7'))
    await store.restore.run(backup.name)
    const password = store.get('rooms', 'r7')?.host_password_sealed ?? ''
    expect(store.unseal(password, sealedPlaceOf('rooms', 'r7'))).toBe('host of r7')
    expect(isSealedForPlaces(store)).toBe(true)
    expect(sealedTexts(store).filter((text) => text.endsWith('v1'))).toEqual([])
    await store.close()
  })
})

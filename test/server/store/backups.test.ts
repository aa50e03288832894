import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setImmediate as immediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { previewBackup } from '../../../server/store/backups/restore.ts'
import { StuckDisk } from '../../../server/lab/stuck-disk.ts'
import { StoreLockedError } from '../../../server/store/files/folder-lock.ts'
import { listBackups, parseBackupName } from '../../../server/store/backups/backups.ts'
import { putSettings } from '../../../server/store/site-settings.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { sealedPlaceOf } from '../../../server/store/sealed-places.ts'
import { drivers } from './drivers.ts'
import { createRoom, credential, open, room, session, temporaryFolder, topics } from '../../support/sites/store-site.ts'

const hour = 3_600_000

describe.each(drivers())('In $name', (driver) => {
  test('At most five backups are kept, newest first, even when the clock jumps back an hour between them', async () => {
    const site = await driver.site()
    const { folder } = site
    let now = Date.UTC(2026, 10, 20, 12)
    const store = await site.open({ clock: () => now })
    const names: string[] = []
    for (let i = 0; i < 7; i++) {
      await createRoom(store, `room-${i}`)
      names.unshift((await store.backups.make()).name)
      now += i === 3 ? -hour : 1_000
    }
    expect((await store.backups.list()).map(({ name }) => name)).toEqual(names.slice(0, 5))
    expect(await listBackups(folder)).toEqual(await store.backups.list())
    expect((await store.restore.preview(names[0] ?? '')).rooms).toBe(7)
    expect((await previewBackup(folder, names[4] ?? '')).rooms).toBe(3)
    await store.close()
  })

  test('A pinned backup stays until it is deleted; of the others the settings limit number and age, and the newest always stays', async () => {
    const site = await driver.site()
    let now = Date.UTC(2026, 10, 20, 12)
    const store = await site.open({ clock: () => now })
    await store.transact([], (transaction) => {
      putSettings(transaction, { ...defaultSettings(), backups: { count: 2, days: 3 } }, store)
    })
    const names = async () => (await store.backups.list()).map(({ name }) => name)
    const kept = (await store.backups.make(true)).name
    const first = (await store.backups.make()).name
    const second = (await store.backups.make()).name
    const third = (await store.backups.make()).name
    expect(await names()).toEqual([third, second, kept])
    expect(first).not.toBe(second)
    await store.backups.keep(second, true)
    now += 4 * 24 * hour
    const fourth = (await store.backups.make()).name
    expect(await names()).toEqual([fourth, second, kept])
    // The site removes what is too old by itself, too.
    await store.transact([], (transaction) => {
      putSettings(transaction, { ...defaultSettings(), backups: { count: 5, days: 30 } }, store)
    })
    await store.backups.keep(kept, false)
    await store.backups.delete(second)
    expect((await store.backups.list()).map((backup) => [backup.name, backup.kept])).toEqual([
      [fourth, false],
      [kept, false],
    ])
    for (const call of [() => store.backups.keep('../site', true), () => store.backups.delete(second)])
      await expect(call()).rejects.toMatchObject({ code: 'parameter' })
    await store.close()
  })

  test('A backup is read in parts as a tar archive of its unchanged files', async () => {
    const site = await driver.site()
    const { folder } = site
    const store = await site.open()
    for (let i = 0; i < 20; i++) await createRoom(store, `room-${i}`)
    const { name } = await store.backups.make(true)
    const parts: Buffer[] = []
    for (let offset = 0; ; ) {
      const { bytes, total } = await store.backups.read(name, offset, 700)
      parts.push(bytes)
      offset += bytes.length
      if (offset >= total) break
    }
    const archive = join(folder, 'backup.tar')
    await writeFile(archive, Buffer.concat(parts))
    await promisify(execFile)('tar', ['-xf', archive, '-C', folder])
    const files = (await readdir(join(folder, name))).sort()
    expect(files).toEqual((await readdir(join(folder, 'backups', name))).filter((file) => file !== 'kept').sort())
    for (const file of files) {
      if (file === 'events') continue
      expect(await readFile(join(folder, name, file))).toEqual(await readFile(join(folder, 'backups', name, file)))
    }
    await expect(store.backups.read('../site', 0, 10)).rejects.toMatchObject({ code: 'parameter' })

    // It imports unchanged beside the others; damaged or foreign ones are refused.
    await store.backups.delete(name)
    const whole = await readFile(archive)
    await store.backups.takeUpload('one', 0, whole.subarray(0, 1_000))
    await expect(store.backups.takeUpload('one', 500, whole)).rejects.toMatchObject({ code: 'parameter' })
    await store.backups.takeUpload('one', 1_000, whole.subarray(1_000))
    const added = await store.backups.addUpload('one')
    expect(added).toMatchObject({ kept: true, uploaded: true, at: parseBackupName(name)?.at })
    expect((await store.restore.preview(added.name)).rooms).toBe(20)
    const damaged = Buffer.from(whole)
    damaged[damaged.indexOf('room-7')] = 0x20
    const endless = Buffer.from(whole)
    endless.fill(0xff, 124, 136)
    const renamed = Buffer.from(whole)
    renamed.write('3', 0)
    for (const [upload, bytes] of [
      ['two', damaged],
      ['three', whole.subarray(0, 5_000)],
      ['four', Buffer.from('no archive')],
      ['five', endless],
      ['six', renamed],
    ] as const) {
      await store.backups.takeUpload(upload, 0, bytes)
      await expect(store.backups.addUpload(upload)).rejects.toMatchObject({ code: 'parameter' })
    }
    expect((await store.backups.list()).map((backup) => backup.name)).toEqual([added.name])
    expect((await readdir(join(folder, 'backups'))).filter((file) => file.startsWith('.'))).toEqual([])

    // Another program may have repacked the files; its headers are also those of earlier versions.
    const again = join(folder, 'again.tar')
    const packed = (await readdir(join(folder, name), { recursive: true })).filter((file) => file.includes('.'))
    const paths = packed.map((file) => `${name}/${file}`)
    await promisify(execFile)('tar', ['--format=ustar', '-cf', again, '-C', folder, ...paths])
    await store.backups.takeUpload('seven', 0, await readFile(again))
    expect((await store.restore.preview((await store.backups.addUpload('seven')).name)).rooms).toBe(20)
    await store.close()
  })

  test('Rewriting the files makes a backup about every hour', async () => {
    const site = await driver.site()
    const { folder } = site
    let now = Date.UTC(2026, 10, 20, 12)
    for (const [minutes, backups] of [
      [0, 1],
      [10, 1],
      [70, 2],
      [75, 2],
      [-30, 3],
    ] as const) {
      now = Date.UTC(2026, 10, 20, 12, minutes)
      const store = await site.open({ clock: () => now })
      await createRoom(store, `room at ${minutes}`)
      await store.close()
      expect(await listBackups(folder)).toHaveLength(backups)
    }
  })

  test('A backup is restored as one change, after a backup of the current state, and listeners are notified', async () => {
    const site = await driver.site()
    const store = await site.open()
    await store.transact([], (transaction) => {
      putSettings(transaction, defaultSettings(), store)
      transaction.put('credentials', 'kept', credential('kept'))
      transaction.put('credentials', 'rotated', credential('rotated', 'old secret'))
    })
    for (const id of ['1', '2', '3']) await createRoom(store, id)
    const { name } = await store.backups.make()
    const then = topics(store)

    await store.transact([], (transaction) => {
      transaction.delete('rooms', '2')
      transaction.put('rooms', '3', room('3', 3, 'Changed'))
      transaction.put('credentials', 'rotated', credential('rotated', 'new secret'))
    })
    await createRoom(store, '4')
    store.writeBehind('sessions', 'of kept', { ...session(), access_key: 'kept' })
    store.writeBehind('sessions', 'of rotated', { ...session(), access_key: 'rotated' })
    const number = store.nextRoomNumber()
    const heard: string[] = []
    store.onChange((changes) => heard.push(...changes.map(({ collection, key }) => `${collection}/${key}`)))

    const restore = store.restore.run(name)
    const meanwhile = createRoom(store, '5')
    await restore
    await meanwhile
    expect(Object.keys(topics(store)).sort()).toEqual([...Object.keys(then).sort()])
    expect(topics(store)['3']).toBe('A topic')
    expect(
      store.unseal(
        store.get('credentials', 'rotated')?.secret_key_sealed ?? '',
        sealedPlaceOf('credentials', 'rotated'),
      ),
    ).toBe('old secret')
    expect([...store.all('sessions').keys()]).toEqual(['of kept'])
    expect(heard).toEqual(
      expect.arrayContaining(['rooms/2', 'rooms/3', 'rooms/4', 'credentials/rotated', 'sessions/of rotated']),
    )
    expect(store.nextRoomNumber()).toBeGreaterThan(number)
    expect(store.status().notices.at(-1)?.code).toBe('restored')
    const [before] = await store.backups.list()
    expect((await store.restore.preview(before?.name ?? '')).rooms).toBe(4)
    const present = topics(store)
    await store.close()
    const again = await site.open()
    expect(topics(again)).toEqual(present)
    await again.close()
  })

  test('Changes that arrive during a restore wait and then apply', async () => {
    const store = await (await driver.site()).open()
    await createRoom(store, '1')
    const { name } = await store.backups.make()
    await createRoom(store, '2')
    const restore = store.restore.run(name)
    const changes = Array.from({ length: 50 }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, i))
      await createRoom(store, `meanwhile-${i}`)
    })
    await Promise.all([restore, ...changes])
    // Changes durable before the restore were replaced; the others are there.
    expect(store.get('rooms', '2')).toBeUndefined()
    await createRoom(store, 'after')
    expect(store.get('rooms', 'after')).toBeDefined()
    await store.close()
  })

  test('Names that are no backups, and damaged backups, are refused and change nothing', async () => {
    const site = await driver.site()
    const { folder } = site
    const store = await site.open()
    await createRoom(store, '1')
    const { name } = await store.backups.make()
    for (const wrong of ['..', '../../etc', '', 'x', '2026-11-20T21-38-06-123Z-999999']) {
      await expect(store.restore.preview(wrong)).rejects.toMatchObject({ code: 'parameter' })
      await expect(store.restore.run(wrong)).rejects.toMatchObject({ code: 'parameter' })
    }
    await writeFile(join(folder, 'backups', name, 'rooms.json'), 'damaged')
    await expect(store.restore.preview(name)).rejects.toMatchObject({ code: 'storage' })
    await expect(store.restore.run(name)).rejects.toMatchObject({ code: 'storage' })
    expect(store.get('rooms', '1')).toBeDefined()
    await store.close()
  })

  test('Closing waits for a restore that has begun to change state: another process gets the folder only after it', async () => {
    const site = await driver.site()
    const stuckDisk = new StuckDisk()
    const store = await site.open({ flushGate: stuckDisk })
    await createRoom(store, 'then')
    const { name } = await store.backups.make()
    await createRoom(store, 'now')
    let outcome = ''
    const restored = store.restore.run(name).then(() => {
      outcome = 'restored'
    })
    const waiting: Promise<void>[] = []
    for (let held = false; !held; await immediate()) {
      let ran = false
      waiting.push(store.transact([], () => void (ran = true)))
      // Transactions wait from the moment a restore begins to change state; now the disk does not answer either.
      held = !ran
      if (held) stuckDisk.begin(10)
    }
    const closed = store.close()
    await expect(site.open()).rejects.toBeInstanceOf(StoreLockedError)
    expect(outcome).toBe('')
    stuckDisk.end()
    await restored
    await Promise.all(waiting)
    await closed
    const again = await site.open()
    expect(Object.keys(topics(again))).toEqual(['then'])
    await again.close()
  })

  test('A restore that has changed nothing yet is aborted by closing, and of two restores one is refused', async () => {
    const site = await driver.site()
    const store = await site.open()
    await createRoom(store, 'then')
    const { name } = await store.backups.make()
    await createRoom(store, 'now')
    const restored = Promise.allSettled([store.restore.run(name), store.restore.run(name)])
    const closed = store.close()
    expect((await restored).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await closed
    const again = await site.open()
    expect(Object.keys(topics(again))).toEqual(['then', 'now'])
    await again.close()
  })
})

test('The time of the files is the last successful write, not the last attempt', async () => {
  const folder = await temporaryFolder()
  let now = 1_800_000_000_000
  const store = await open(folder, { clock: () => now })
  await store.backups.make()
  expect(store.status().snapshotAt).toBe(now)
  await createRoom(store, '1')
  // A folder in place of the new file: it cannot be written.
  await mkdir(join(folder, 'rooms.json.tmp'))
  now += 60_000
  await expect(store.backups.make()).rejects.toMatchObject({ name: 'ApiError' })
  expect(store.status().snapshotAt).toBe(now - 60_000)
  await rm(join(folder, 'rooms.json.tmp'), { recursive: true, force: true })
  await store.backups.make()
  expect(store.status().snapshotAt).toBe(now)
  await store.close()
})

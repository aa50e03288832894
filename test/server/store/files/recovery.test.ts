import {
  appendFile,
  copyFile,
  open as openFile,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HighWaterFile, highWaterName, readHighWater } from '../../../../server/store/files/journal/high-water.ts'
import type { RawRecord } from '../../../../server/store/state.ts'
import { type Migrations, migrations as known, StoreVersionError } from '../../../../server/store/migrations.ts'
import { putSettings } from '../../../../server/store/site-settings.ts'
import type { Store } from '../../../../server/store/store.ts'
import { defaultSettings } from '../../../../shared/settings.ts'
import {
  contents,
  crashCopy,
  createRoom,
  credential,
  lastSegment,
  open,
  session,
  temporaryFolder,
  topics,
} from '../../../support/sites/store-site.ts'

const files = ['site.json', 'rooms.json', 'sessions.json']
const codes = (store: Store) => store.status().notices.map((notice) => notice.code)

/** A site with files that were rewritten twice and a journal after them, in the state of a power failure. */
async function site(): Promise<{ folder: string; rooms: Record<string, string> }> {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await store.transact([], (transaction) => transaction.put('credentials', 'demo_access', credential('demo_access')))
  store.writeBehind('sessions', 'token', session())
  for (let i = 0; i < 20; i++) await createRoom(store, `first-${i}`)
  await store.backups.make()
  for (let i = 0; i < 20; i++) await createRoom(store, `second-${i}`)
  await store.transact([], (transaction) => transaction.delete('rooms', 'first-3'))
  await store.backups.make()
  for (let i = 0; i < 20; i++) await createRoom(store, `third-${i}`)
  await store.transact([], (transaction) => transaction.delete('rooms', 'second-3'))
  const copy = await crashCopy(folder)
  const rooms = topics(store)
  await store.close()
  return { folder: copy, rooms }
}

/** Inverts a byte in place. */
async function damage(path: string, offset: number): Promise<void> {
  const file = await openFile(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, offset)
  await file.write(Buffer.from([byte.readUInt8() ^ 0xff]), 0, 1, offset)
  await file.close()
}

test('Damaged files are set aside, wherever the damage is, and nothing is lost', async () => {
  const { folder, rooms } = await site()
  for (const place of ['start', 'second byte', 'third', 'half', 'checksum', 'end']) {
    const copy = await crashCopy(folder)
    const damaged = new Map<string, Buffer>()
    for (const file of files) {
      const size = (await readFile(join(copy, file))).length
      const offsets: Record<string, number> = {
        start: 0,
        'second byte': 1,
        third: Math.floor(size / 3),
        half: Math.floor(size / 2),
        checksum: size - 6,
        end: size - 2,
      }
      await damage(join(copy, file), offsets[place] ?? 0)
      damaged.set(file, await readFile(join(copy, file)))
    }
    const store = await open(copy)
    expect(topics(store)).toEqual(rooms)
    expect(store.get('credentials', 'demo_access')).toBeDefined()
    expect(store.get('sessions', 'token')).toBeDefined()
    expect(codes(store)).toEqual(['damaged', 'recovered', 'damaged', 'recovered', 'damaged', 'recovered'])
    for (const { code, file = '' } of store.status().notices) {
      if (code !== 'damaged') continue
      expect(file).toMatch(/^\w+\.json\.damaged-\d{4}-\d\d-\d\dT[\d-]+Z$/)
      expect(await readFile(join(copy, file))).toEqual(damaged.get(file.replace(/\.damaged-.*/, '')))
    }
    await store.close()
    const again = await open(copy)
    expect(topics(again)).toEqual(rooms)
    expect(codes(again)).toEqual([])
    await again.close()
  }
})

test('Truncated, empty and missing files are recovered', async () => {
  const { folder, rooms } = await site()
  for (const size of [0, 1, 100, 170, undefined]) {
    const copy = await crashCopy(folder)
    for (const file of files) {
      if (size === undefined) await rm(join(copy, file))
      else await truncate(join(copy, file), Math.min(size, (await readFile(join(copy, file))).length - 1))
    }
    const store = await open(copy)
    expect(topics(store)).toEqual(rooms)
    expect(store.get('credentials', 'demo_access')).toBeDefined()
    expect(store.get('sessions', 'token')).toBeDefined()
    expect(codes(store).filter((code) => code === 'recovered')).toHaveLength(3)
    await store.close()
  }
})

test('Two files damaged at the same instant are both kept', async () => {
  const { folder } = await site()
  const clock = () => Date.UTC(2026, 10, 20)
  for (let round = 0; round < 3; round++) {
    await writeFile(join(folder, 'rooms.json'), `damage ${round}`)
    const store = await open(folder, { clock })
    await store.close()
  }
  const aside = (await readdir(folder)).filter((name) => name.includes('.damaged-'))
  expect(aside).toHaveLength(3)
  const texts = await Promise.all(aside.map((name) => readFile(join(folder, name), 'utf8')))
  expect(texts.sort()).toEqual(['damage 0', 'damage 1', 'damage 2'])
})

test('If a file and its predecessor are damaged, the newest good backup is used and the notice says what may be lost', async () => {
  const { folder, rooms } = await site()
  await writeFile(join(folder, 'rooms.json'), 'damaged')
  await writeFile(join(folder, 'rooms.previous.json'), 'damaged too')
  // The newest backup is as new as the file: the journal after it still exists.
  const lossless = await crashCopy(folder)
  const store = await open(lossless)
  expect(topics(store)).toEqual(rooms)
  expect(store.status().notices.at(-1)?.message).toContain('nothing was lost')
  await store.close()
  // Without it an older one is used, and the journal since then is gone.
  const [, newest] = (await readdir(join(folder, 'backups'))).sort()
  await rm(join(folder, 'backups', newest ?? 'none', 'rooms.json'))
  for (const name of (await readdir(folder)).filter((each) => each.startsWith('journal-')).slice(0, -1))
    await rm(join(folder, name))
  const lossy = await open(folder)
  const notice = lossy.status().notices.at(-1)
  expect(notice).toMatchObject({ level: 'error', code: 'recovered', file: 'rooms.json' })
  expect(notice?.message).toContain('may be lost')
  expect(Object.keys(topics(lossy))).toEqual(expect.arrayContaining(['first-0', 'third-0']))
  // The lost rooms had numbers.
  expect(lossy.nextRoomNumber()).toBeGreaterThan(60)
  await lossy.close()
})

test('The journal alone is enough as long as it is complete', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  for (let i = 0; i < 5; i++) await createRoom(store, `room-${i}`)
  const crashed = await crashCopy(folder)
  const rooms = topics(store)
  await store.close()
  for (const name of ['site.json', 'rooms.json', 'sessions.json']) await rm(join(crashed, name))
  const recovered = await open(crashed)
  expect(topics(recovered)).toEqual(rooms)
  expect(codes(recovered)).toContain('recovered')
  await recovered.close()
})

test('If nothing else is left, the readable parts of the damaged file are used', async () => {
  const { folder } = await site()
  await rm(join(folder, 'backups'), { recursive: true })
  await rm(join(folder, 'rooms.previous.json'))
  for (const name of (await readdir(folder)).filter((each) => each.startsWith('journal-')).slice(0, -1))
    await rm(join(folder, name))
  const text = await readFile(join(folder, 'rooms.json'), 'utf8')
  await writeFile(join(folder, 'rooms.json'), text.replace('"first-7",{', '"first-7",}'))
  const store = await open(folder)
  expect(topics(store)).toHaveProperty('first-6')
  expect(topics(store)).toHaveProperty('third-6')
  expect(topics(store)).not.toHaveProperty('first-7')
  expect(store.status().notices.at(-1)?.message).toContain('what could be read')
  await store.close()
})

/** Sets the high-water mark to this byte of the last segment, as if the power had failed then. */
async function markHighWater(folder: string, end: number): Promise<void> {
  const mark = await readHighWater(folder)
  if (mark === undefined) throw new Error('There is no mark.')
  await rm(join(folder, highWaterName))
  const file = new HighWaterFile(folder)
  file.reached({ ...mark, end, lines: mark.lines - 1 })
  await file.close()
}

test('A torn last line is dropped and reported once', async () => {
  const { folder, rooms } = await site()
  const segment = await lastSegment(folder)
  const bytes = await readFile(segment)
  const end = bytes.lastIndexOf(0x0a) + 1
  const start = bytes.lastIndexOf(0x0a, end - 2) + 1
  for (const size of [start + 1, start + 9, end - 2, end - 1]) {
    const copy = await crashCopy(folder)
    await truncate(await lastSegment(copy), size)
    await markHighWater(copy, start)
    const store = await open(copy)
    expect(topics(store)).toEqual({ ...rooms, 'second-3': 'A topic' })
    expect(codes(store)).toEqual(['tornTail'])
    expect(store.status().losses).toEqual([])
    expect(store.status().notices[0]?.level).toBe('info')
    await createRoom(store, 'later')
    const crashed = await open(await crashCopy(copy))
    expect(topics(crashed)).toHaveProperty('later')
    expect(codes(crashed)).toEqual([])
    await crashed.close()
    await store.close()
  }
})

test('Damage in the middle of the journal costs only the damaged changes, and a copy is kept', async () => {
  const { folder, rooms } = await site()
  const segment = await lastSegment(folder)
  const bytes = await readFile(segment)
  await damage(segment, bytes.indexOf('third-5') + 2)
  await damage(segment, bytes.indexOf('third-9') + 2)
  const store = await open(folder)
  const { 'third-5': _5, 'third-9': _9, ...rest } = rooms
  expect(topics(store)).toEqual(rest)
  const [notice] = store.status().notices
  expect(notice).toMatchObject({ level: 'warning', code: 'damaged' })
  expect(notice?.message).toContain('2 lines')
  expect(await readdir(folder)).toContain(notice?.file)
  await store.close()
})

test('A gap of zeros in the journal loses only the changes in it', async () => {
  const { folder, rooms } = await site()
  const segment = await lastSegment(folder)
  const bytes = await readFile(segment)
  bytes.fill(0, bytes.indexOf('third-5') - 5, bytes.indexOf('third-7'))
  await writeFile(segment, bytes)
  const store = await open(folder)
  expect(Object.keys(rooms).filter((key) => !(key in topics(store)))).toEqual(['third-5', 'third-6', 'third-7'])
  expect(codes(store)).toEqual(['damaged'])
  await store.close()
})

/** Copies a folder as a crash leaves it, with a complete segment and a room `later` in the next one. */
async function crashedWithTwoSegments(): Promise<{ copy: string; path: string }> {
  const { folder } = await site()
  const store = await open(folder)
  await createRoom(store, 'later')
  const copy = await crashCopy(folder)
  await store.close()
  const segments = (await readdir(copy)).filter((name) => name.startsWith('journal-')).sort()
  return { copy, path: join(copy, segments.at(-2) ?? '') }
}

test('A journal segment that ends too early before a later one counts as damaged', async () => {
  const { copy, path } = await crashedWithTwoSegments()
  await truncate(path, (await readFile(path)).lastIndexOf('third-10'))
  const recovered = await open(copy)
  expect(topics(recovered)).toHaveProperty('later')
  expect(topics(recovered)).toHaveProperty('third-9')
  expect(codes(recovered)).toEqual(['damaged'])
  await recovered.close()
})

test('A missing part of the journal is reported', async () => {
  const { copy, path } = await crashedWithTwoSegments()
  await rm(path)
  const recovered = await open(copy)
  expect(topics(recovered)).toHaveProperty('later')
  expect(codes(recovered)).toContain('damaged')
  await recovered.close()
})

test('Files of a newer version are refused and left unchanged', async () => {
  const { folder } = await site()
  for (const file of ['site.json', 'rooms.json', 'sessions.json']) {
    const copy = await crashCopy(folder)
    const text = await readFile(join(copy, file), 'utf8')
    for (const newer of [
      text.replace(/"version":\d+/, '"version":99'),
      JSON.stringify({ ...JSON.parse(text), version: 99 }, null, 2),
    ]) {
      await writeFile(join(copy, file), newer)
      const before = await contents(copy)
      const refused = open(copy)
      await expect(refused).rejects.toBeInstanceOf(StoreVersionError)
      await expect(refused).rejects.toThrow(`${file} (version 99)`)
      expect(await contents(copy)).toEqual(before)
    }
  }
})

test('An older version is migrated, with the old files in a backup; after that the old program refuses', async () => {
  const { folder, rooms } = await site()
  const upgrade = (record: RawRecord): RawRecord[] => {
    if (record.collection !== 'rooms' || record.value === undefined) return [record]
    return [{ ...record, value: { ...record.value, topic: 'Migrated' } }]
  }
  const migrations: Migrations = {
    current: known.current + 2,
    steps: new Map([...known.steps, [known.current, upgrade], [known.current + 1, (record: RawRecord) => [record]]]),
  }
  const old = await readFile(join(folder, 'rooms.json'), 'utf8')
  const store = await open(folder, { migrations })
  expect(Object.keys(topics(store))).toEqual(Object.keys(rooms))
  expect(new Set(Object.values(topics(store)))).toEqual(new Set(['Migrated']))
  expect(codes(store)).toEqual(['migrated'])
  const [backup] = await store.backups.list()
  expect(await readFile(join(folder, 'backups', backup?.name ?? '', 'rooms.json'), 'utf8')).toBe(old)
  expect(await store.restore.preview(backup?.name ?? '')).toMatchObject({
    rooms: Object.keys(rooms).length,
    credentials: 1,
  })
  await createRoom(store, 'new', 'Not migrated again')
  const crashed = await crashCopy(folder)
  await store.close()
  await expect(open(folder)).rejects.toBeInstanceOf(StoreVersionError)
  const again = await open(crashed, { migrations })
  expect(again.get('rooms', 'new')?.topic).toBe('Not migrated again')
  expect(codes(again)).toEqual([])
  await again.close()
})

test('A start of a newer version deletes no backup that the settings keep', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await store.transact([], (transaction) => {
    putSettings(transaction, { ...defaultSettings(), backups: { count: 10, days: 0 } }, store)
  })
  for (let i = 0; i < 8; i++) await store.backups.make()
  await store.close()
  const asItIs = (record: RawRecord): RawRecord[] => [record]
  const newer = await open(folder, {
    migrations: { current: known.current + 1, steps: new Map([...known.steps, [known.current, asItIs]]) },
  })
  expect(await newer.backups.list()).toHaveLength(9)
  await newer.close()
})

test('Unfinished files of a dead process are removed', async () => {
  const { folder, rooms } = await site()
  await writeFile(join(folder, 'rooms.json.tmp'), '{"file":"rooms"')
  await copyFile(join(folder, 'rooms.json'), join(folder, 'site.previous.json.tmp'))
  await appendFile(await lastSegment(folder), '')
  await rename(join(folder, 'backups'), join(folder, 'aside'))
  const store = await open(folder)
  expect(topics(store)).toEqual(rooms)
  expect(codes(store)).toEqual([])
  expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  await store.close()
})

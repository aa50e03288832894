import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { StoredIndex } from '../../../server/recordings/index/stored-index.ts'
import { openRecordingsFolder } from '../../../server/recordings/recordings-folder.ts'
import { beginning, cameraStream, complete } from '../../support/recordings/segment-facts.ts'
import { sealer, temporaryFolder } from '../../support/sites/store-site.ts'

/** The index of a recordings folder lies in the data folder. */

const yard = cameraStream('yard')
const at = Date.UTC(2026, 10, 25)

function openIndex(folder: string): StoredIndex {
  return new StoredIndex({ folder, kept: { covers: () => false }, onDamage: vi.fn() })
}

async function use<T>(folder: string, work: (index: StoredIndex) => T): Promise<T> {
  const index = openIndex(folder)
  try {
    return work(index)
  } finally {
    index.close()
  }
}

const record = (folder: string, count = 1) =>
  use(folder, (index) => {
    for (let number = 0; number < count; number++) index.writer.ended(complete(beginning(yard, at + number * 60_000)))
  })
const counted = (folder: string) => use(folder, (index) => index.segments({}).length)

async function place() {
  const data = await temporaryFolder()
  const given = join(data, 'recordings')
  await mkdir(given)
  const open = (dataFolder = data, recordings = given): string => {
    const { indexFolder, problem } = openRecordingsFolder(recordings, dataFolder, sealer)
    expect(problem).toBeUndefined()
    return indexFolder
  }
  return { data, given, open }
}

test('the index is in the data folder, and the same after a restart', async () => {
  const { data, given, open } = await place()
  const folder = open()
  expect(folder.startsWith(join(data, 'recordings-index'))).toBe(true)
  await record(folder, 3)
  expect(open()).toBe(folder)
  expect(await counted(open())).toBe(3)
  expect(await readdir(given)).toEqual(['roomdesk-recordings.json'])
})

test('an index of an earlier version is moved there once, including entries that are only in its log', async () => {
  const { given, open } = await place()
  // A process that was killed leaves its log.
  const before = openIndex(given)
  for (let number = 0; number < 5; number++) before.writer.ended(complete(beginning(yard, at + number * 60_000)))
  const copy = await temporaryFolder()
  await cp(given, copy, { recursive: true })
  before.close()
  await rm(given, { recursive: true })
  await cp(copy, given, { recursive: true })
  expect(await readdir(given)).toContain('index.sqlite-wal')
  const folder = open()
  expect(await counted(folder)).toBe(5)
  expect(await readdir(given)).toEqual(['roomdesk-recordings.json'])
  expect(await counted(open())).toBe(5)
})

test.each(['after the log', 'before the mark', 'before the new name'])(
  'a move that was interrupted %s goes on at the next start',
  async (moment) => {
    const { data, given, open } = await place()
    await record(given, 4)
    const marked = open()
    // Back to how it was in the middle.
    const all = join(data, 'recordings-index')
    const probe = await temporaryFolder()
    await mkdir(join(probe, 'other'))
    const [, id = ''] = /([0-9a-f]{24})$/.exec(marked) ?? []
    const { createHash } = await import('node:crypto')
    const moving = join(all, `${createHash('sha256').update(given).digest('hex').slice(0, 16)}.moving`)
    await rename(join(all, id), moving)
    if (moment !== 'before the new name') await rm(join(given, 'roomdesk-recordings.json'))
    if (moment === 'after the log') await rename(join(moving, 'index.sqlite'), join(given, 'index.sqlite'))
    const folder = open()
    expect(await counted(folder)).toBe(4)
    expect(existsSync(moving)).toBe(false)
    expect(await counted(open())).toBe(4)
  },
)

test('an index planted in the recordings folder is not read', async () => {
  const { given, open } = await place()
  const folder = open()
  await record(folder, 2)
  await record(given, 7)
  // What an earlier version recorded since is read from the files: the index is new.
  const again = open()
  expect(await counted(again)).toBe(0)
  expect(await readdir(given)).toEqual(['roomdesk-recordings.json'])
  await record(again, 2)
  // Nor with an older mark, or none.
  await record(given, 7)
  await rm(join(given, 'roomdesk-recordings.json'))
  expect(await counted(open())).not.toBe(7)
})

test('a link in place of the index or the mark is never followed', async () => {
  const { data, given, open } = await place()
  const other = await temporaryFolder()
  await record(other, 7)
  const target = join(data, 'site.json')
  await writeFile(target, 'state')
  await symlink(join(other, 'index.sqlite'), join(given, 'index.sqlite'))
  await symlink(target, join(given, 'roomdesk-recordings.json'))
  await symlink(target, join(given, 'roomdesk-recordings.json.new'))
  expect(await counted(open())).toBe(0)
  expect(await readFile(target, 'utf8')).toBe('state')
})

test('without its mark, the index of the same folder is found again', async () => {
  const { given, open } = await place()
  await record(open(), 3)
  await rm(join(given, 'roomdesk-recordings.json'))
  expect(await counted(open())).toBe(3)
})

test('another controller that uses the folder creates a new index, and so does the first one afterwards', async () => {
  const { given, open, data } = await place()
  await record(open(), 3)
  const other = await temporaryFolder()
  expect(await counted(open(other, given))).toBe(0)
  expect(await counted(open(data, given))).toBe(0)
  // Indexes that are no longer right are removed.
  expect(await readdir(join(data, 'recordings-index'))).toHaveLength(1)
})

test('two recordings folders of one data folder have separate indexes', async () => {
  const { open, data } = await place()
  const second = await temporaryFolder()
  await record(open(), 3)
  await record(open(data, second), 1)
  expect([await counted(open()), await counted(open(data, second))]).toEqual([3, 1])
})

test('a data folder that is moved keeps its index', async () => {
  const { data, open } = await place()
  await record(open(), 3)
  const to = join(await temporaryFolder(), 'moved')
  await cp(data, to, { recursive: true })
  expect(await counted(open(to, join(to, 'recordings')))).toBe(3)
})

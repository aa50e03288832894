import { mkdir, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeFolder } from '../support/headless.ts'
import { record, recordedFileOf } from '../support/recordings/recorded-files.ts'
import { openControllerSite } from '../support/sites/controller-site.ts'

test('Files damaged by hand are missing from an export, which says so, and the time line shows the gap', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'roomdesk-damaged-'))
  const folder = join(dataFolder, 'recordings')
  const startedAt = Date.now() - 3_600_000
  const users = ['cut', 'empty', 'foreign', 'folder', 'whole']
  for (const userId of users) await record({ folder, startedAt, roomId: '1000', userId, film: { seconds: 4 } })
  const site = await openControllerSite(undefined, { dataFolder })
  try {
    const key = await site.key()
    const total = async (): Promise<number> => (await site.call(key, 'recordings.sources', {})).total
    await expect.poll(total, { timeout: 30_000 }).toBe(5)
    const [cut = '', empty = '', foreign = '', replaced = ''] = await Promise.all(
      users.map((user) => recordedFileOf(folder, user)),
    )
    const { size } = await stat(cut)
    await truncate(cut, Math.floor(size / 2))
    await truncate(empty, 0)
    await writeFile(foreign, Buffer.alloc(size, 'A'))
    await rm(replaced)
    await mkdir(replaced)
    const streams = users.map((user_id) => ({ room_id: '1000', user_id }))
    const exported = async () => {
      const { id } = await site.call(key, 'exports.start', { streams, from: startedAt, to: Date.now() })
      const job = async () => (await site.call(key, 'exports.list', {})).items.find((one) => one.id === id)
      await expect.poll(async () => (await job())?.state, { timeout: 30_000 }).toMatch(/done|failed/)
      return await job()
    }
    expect(await exported()).toMatchObject({ state: 'done', lost: 4 })
    await expect.poll(total).toBe(2)
    const stream = { room_id: '1000', user_id: 'cut' }
    const lengths = async (): Promise<number[]> =>
      (await site.call(key, 'recordings.pieces', { stream, from: startedAt, to: Date.now() })).items.map(
        ({ from, to }) => to - from,
      )
    await expect.poll(lengths).toEqual([expect.toSatisfy((length: number) => length > 0 && length < 4_000)])
    const events = (await site.call(key, 'events.list', { groups: ['recordings'], limit: 50 })).items
    const told = events.filter(({ kind }) => kind === 'recording.filesMissing').map(({ subject }) => subject.id)
    expect(told.toSorted()).toEqual(['1000/cut', '1000/empty', '1000/folder', '1000/foreign'])
    const { problems } = await site.call(key, 'recordings.status', {})
    expect(problems.map(({ code }) => code)).toContain('filesMissing')
    // The index is right now: what is left of the files is everything.
    expect(await exported()).not.toHaveProperty('lost')
  } finally {
    await site.remove()
    await removeFolder(dataFolder)
  }
})

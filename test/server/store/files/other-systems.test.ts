import fs from 'node:fs'
import { chmod, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { idOfFolder } from '../../../../server/store/election/controller-id.ts'
import { syncFolder } from '../../../../server/store/files/durable-files.ts'
import { closeToOthers } from '../../../../server/store/files/data-folder.ts'
import { loadKeyFile } from '../../../../server/store/files/key-file.ts'
import type * as journal from '../../../../server/store/files/journal/journal-segment.ts'
import { onSystem } from '../../../support/on-system.ts'
import { temporaryFolder } from '../../../support/sites/store-site.ts'

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
const segmentModule = new URL('../../../../server/store/files/journal/journal-segment.ts', import.meta.url)

/** Loads the journal anew, as another system does, and counts the syncs of its file; space ahead is prepared by another descriptor. */
async function journalOn(system: NodeJS.Platform) {
  onSystem(system)
  const { fdatasync } = fs
  onTestFinished(() => void (fs.fdatasync = fdatasync))
  const synced: number[] = []
  // The journal takes this function when it is loaded.
  fs.fdatasync = ((descriptor: number, done: fs.NoParamCallback) => {
    synced.push(descriptor)
    fdatasync(descriptor, done)
  }) as typeof fdatasync
  segmentModule.search = system
  const loaded = (await import(segmentModule.href)) as typeof journal
  return { ...loaded, syncs: () => synced.filter((one) => one === synced[0]).length }
}

const header = { journal: 1, version: 1, segment: 1, previous: 0, ends: {}, room_number: 0 } as const

describe('The journal', () => {
  test.each(['darwin', 'win32'] as const)('syncs after each write on %s, before it is acknowledged', async (system) => {
    const { JournalSegment, syncs } = await journalOn(system)
    const segment = await JournalSegment.create(await temporaryFolder(), header)
    for (const line of ['one\n', 'two\n']) {
      const before = syncs()
      await segment.append(Buffer.from(line), 4, 1)
      expect(syncs()).toBeGreaterThan(before)
    }
    await segment.close()
  })
})

test('Windows does not sync folders: it opens none', async () => {
  const missing = join(await temporaryFolder(), 'missing')
  onSystem('win32')
  await syncFolder(missing)
  onSystem('darwin')
  await expect(syncFolder(missing)).rejects.toThrow('ENOENT')
})

test('On Windows a data folder and its key keep their permissions', async () => {
  const folder = await temporaryFolder()
  const key = join(folder, 'seal.key')
  await writeFile(key, `${'0f'.repeat(32)}\n`)
  await chmod(key, 0o644)
  await chmod(folder, 0o755)
  onSystem('win32')
  expect(await closeToOthers(folder, 0)).toBeUndefined()
  await loadKeyFile(key)
  expect([await modeOf(folder), await modeOf(key)]).toEqual([0o755, 0o644])
  onSystem('darwin')
  expect(await closeToOthers(folder, 0)).toMatchObject({ code: 'folderClosed' })
  expect([await modeOf(folder), await modeOf(key)]).toEqual([0o700, 0o600])
})

test('If the system has no boot id, each start has a folder of its own', async () => {
  const folder = await temporaryFolder()
  expect(await idOfFolder(folder)).toBe(await idOfFolder(folder))
  const none = join(folder, 'boot_id')
  expect(await idOfFolder(folder, none)).not.toBe(await idOfFolder(folder, none))
})

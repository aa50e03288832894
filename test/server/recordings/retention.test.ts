import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { FileRemoval } from '../../../server/recordings/recording-storage.ts'
import { StoredIndex } from '../../../server/recordings/index/stored-index.ts'
import { RecordingNotes } from '../../../server/recordings/recording-notes.ts'
import { RecordingRetention } from '../../../server/recordings/retention.ts'
import { type Space, StorageWatch } from '../../../server/recordings/disk-space.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import { type RecordingSettings, recordingSettingsSchema } from '../../../shared/settings/recording.ts'
import { beginning, cameraStream, complete } from '../../support/recordings/segment-facts.ts'
import { temporaryFolder, temporaryStore } from '../../support/sites/store-site.ts'
import { storedRoom } from '../../support/stored-records.ts'

const logger = pino({ level: 'silent' })
const day = 24 * 60 * 60_000
const now = Date.UTC(2026, 10, 25, 12)
const gigabyte = 1_000_000_000
const yard = cameraStream('yard')
const ann: RecordedStream = { roomId: '1001', userId: 'ann', source: 'main', quality: 'main' }

async function site(settings: Partial<RecordingSettings> = {}) {
  const { store } = await temporaryStore()
  const folder = await temporaryFolder()
  const notes = new RecordingNotes(folder, logger)
  const index = new StoredIndex({ folder, kept: { covers: () => false }, onDamage: vi.fn(), notes })
  onTestFinished(() => index.close())
  const removal = new FileRemoval({ folder, store, index, logger })
  const recording = (): RecordingSettings => recordingSettingsSchema.parse(settings)
  const deleted = () => removal.begin()
  const parts = {
    store,
    index,
    settings: recording,
    localHours: () => 24,
    isUploading: () => false,
    notUploaded: () => {},
    deleted,
    logger,
    now: () => now,
  }
  const retention = new RecordingRetention(parts)
  onTestFinished(() => removal.stop())
  return { store, folder, index, notes, retention, removal, recording }
}

/** One gigabyte that ended some days ago. */
function record(index: StoredIndex, stream: RecordedStream, daysAgo: number, device = stream === yard): string {
  const start = beginning(stream, now - daysAgo * day, { device })
  index.writer.ended(complete(start, { bytes: gigabyte }))
  return start.file
}
const ages = (index: StoredIndex, stream: RecordedStream): number[] =>
  index.segments(stream).map(({ startedAt }) => (now - startedAt) / day)

test('recordings are deleted after the days of the site, or of their room or camera, and kept ones stay', async () => {
  const { store, index, retention } = await site({ retention: { days: 14, gigabytes: 0 } })
  for (const age of [40, 20, 10, 2]) {
    record(index, yard, age)
    record(index, ann, age)
  }
  index.writer.setKept(yard, { from: now - 20 * day, to: now - 19 * day }, true, 10)
  await store.transact(['rooms'], (transaction) =>
    transaction.put('rooms', '1001', {
      ...storedRoom('1001'),
      recording: { when: 'never', retention: { days: 5, gigabytes: 0 } },
    }),
  )
  await retention.round()
  expect(ages(index, yard)).toEqual([20, 10, 2])
  expect(ages(index, ann)).toEqual([2])
})

test('above its limit of gigabytes, a source or the site loses its oldest recordings', async () => {
  const { index, retention } = await site({ retention: { days: 0, gigabytes: 3 }, gigabytes: 4 })
  for (const age of [9, 8, 7, 6]) {
    record(index, yard, age)
    record(index, ann, age)
  }
  await retention.round()
  expect([ages(index, yard), ages(index, ann)]).toEqual([
    [7, 6],
    [7, 6],
  ])
})

test('the files of deleted recordings, and empty folders of days, leave the disk', async () => {
  const { folder, index, notes, retention, removal } = await site({ retention: { days: 14, gigabytes: 0 } })
  const files = [record(index, yard, 30), record(index, yard, 3)]
  const names = { userName: 'Yard', topic: '', device: true }
  index.writer.gap({ ...yard, from: now - 29 * day, to: now - 28 * day, reason: 'away' }, names)
  index.writer.gap({ ...yard, from: now - 2 * day, to: now - day, reason: 'away' }, names)
  await notes.write()
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), 'media')
  }
  await retention.round()
  await removal.settled()
  const found = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.mp4'))
  expect(found).toEqual([files[1]])
  expect(index.deletions.waitingRemovals()).toEqual({ files: 0, bytes: 0 })
  // Notes of the days before the first recording are gone, too.
  const days = await readdir(dirname(dirname(join(folder, files[0] ?? ''))))
  expect(days.sort()).toEqual([3, 2].map((age) => new Date(now - age * day).toISOString().slice(0, 10)))
})

test('the oldest are deleted before the disk is too full; recording stops at the reserve and resumes with a margin', async () => {
  const { folder, index, retention, recording } = await site({ free_gigabytes: 5, free_percent: 1 })
  for (const age of [9, 8, 7]) record(index, yard, age)
  index.writer.setKept(yard, { from: now - 9 * day, to: now - 8.5 * day }, true, 10)
  let free = 5.1 * gigabyte
  const changes: boolean[] = []
  const watch = new StorageWatch({
    folder,
    settings: recording,
    rate: () => 10_000_000,
    isBusy: () => true,
    lowChanged: (low) => changes.push(low),
    measured: (space: Space) => retention.makeRoom(space, 0),
    logger,
    measure: async () => ({ free, capacity: 100 * gigabyte }),
  })
  await watch.look()
  // 0.6 GB of a minute's recordings are the margin: one segment has to go.
  await expect.poll(() => ages(index, yard)).toEqual([9, 7])
  expect(changes).toEqual([])
  free = 4.9 * gigabyte
  await watch.look()
  free = 5.3 * gigabyte
  await watch.look()
  expect([changes, watch.isLow]).toEqual([[true], true])
  free = 5.7 * gigabyte
  await watch.look()
  expect(changes).toEqual([true, false])
})

test('on a large disk one percent is more than the gigabytes', async () => {
  const { folder, recording } = await site({ free_gigabytes: 5, free_percent: 10 })
  const low = vi.fn()
  const watch = new StorageWatch({
    folder,
    settings: recording,
    rate: () => 0,
    isBusy: () => false,
    lowChanged: low,
    measured: () => {},
    logger,
    measure: async () => ({ free: 90 * gigabyte, capacity: 1_000 * gigabyte }),
  })
  await watch.look()
  expect(low).toHaveBeenCalledExactlyOnceWith(true, expect.objectContaining({ reserve: 100 * gigabyte }))
})

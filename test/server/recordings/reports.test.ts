import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openRecordingsFolder } from '../../../server/recordings/recordings-folder.ts'
import { SiteRecordings } from '../../../server/recordings/site-recordings.ts'
import { controllerMethods } from '../../../shared/media/controller-methods.ts'
import { segmentPath } from '../../../shared/recordings/segment-path.ts'
import type { EndedFacts, RecordedStream, RecordingOrder, SegmentFacts } from '../../../shared/recordings/segment.ts'
import { settingsSchema } from '../../../shared/settings.ts'
import { createRoom, temporaryStore } from '../../support/sites/store-site.ts'

/** Reports of a media program, which may have been taken over. */

const day = 24 * 60 * 60_000
const yard: RecordedStream = { roomId: '1001', userId: 'yard', source: 'main', quality: 'main' }

async function recordingSite() {
  const { store, folder: data, remove } = await temporaryStore()
  const folder = openRecordingsFolder(undefined, data, store)
  const warnings: string[] = []
  const sent: RecordingOrder[] = []
  let node = 'node'
  const driver = { setRecording: async (order: RecordingOrder) => void sent.push(order) }
  const recordings = new SiteRecordings({
    folder,
    store,
    pool: {
      index: { nodesOf: () => [node] },
      nodes: { driver: () => driver as never },
      presence: { peopleIn: () => 1, occupied: () => true, user: () => undefined },
      events: { subscribe: () => () => {} },
    },
    devicesOf: () => new Set(),
    settings: () => settingsSchema.parse({}),
    event: () => {},
    sitePorts: () => [],
    logger: pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) }),
    measure: async () => ({ free: 1e12, capacity: 1e12 }),
  })
  await createRoom(store, '1001')
  await recordings.begin()
  onTestFinished(async () => {
    await recordings.end()
    await recordings.close()
    await remove()
  })
  /** Passes a message on as the supervisor of the process does: what does not fit the schema is dropped there. */
  const report = (event: unknown, from = 'node'): boolean => {
    const parsed = controllerMethods.recorder.params.safeParse({ event })
    if (!parsed.success) return false
    recordings.intake?.take(from, parsed.data.event)
    return true
  }
  const order = async (): Promise<void> => {
    recordings.orders.put({ id: 'test', roomId: '1001', userId: 'yard' })
    await expect.poll(() => recordings.orders.rooms.covers(node, yard)).toBe(true)
  }
  const moveTo = (name: string): void => void (node = name)
  return { data, folder: folder.path, store, recordings, warnings, report, order, moveTo }
}

function begun(changes: Partial<SegmentFacts> = {}): SegmentFacts {
  const facts = { container: 'mp4', userName: 'Yard', topic: '', device: false, senderStartedAt: null } as const
  const media = { videoCodec: 'avc1.64001f', audioCodec: '', width: 640, height: 360 }
  return { ...yard, ...facts, ...media, startedAt: Date.now() - 1_000, ...changes }
}
const ended = (start: SegmentFacts, changes: Partial<EndedFacts> = {}): EndedFacts => ({
  ...{ ...start, endedAt: start.startedAt + 900, bytes: 10_000, end: 'length' },
  ...changes,
})
const began = (segment: SegmentFacts) => ({ type: 'segmentBegan', segment })
const over = (segment: EndedFacts) => ({ type: 'segmentEnded', segment })

test('a forged report neither deletes nor reads a file outside of the recordings', async () => {
  const site = await recordingSite()
  const key = join(site.data, 'seal.key')
  await writeFile(key, 'the key')
  await site.order()
  const old = begun({ startedAt: Date.now() - 20 * day })
  expect(site.report({ type: 'segmentEnded', segment: { ...ended(old), file: '../seal.key' } })).toBe(false)
  expect(site.report(over(ended(old)))).toBe(true)
  expect(site.recordings.storage?.index.segments({})).toEqual([])
  expect(site.warnings.join()).toContain('recorder report rejected')
  // Also what is deleted at once.
  await site.recordings.storage?.retention.deleteSpans([yard], 0, Date.now() + day)
  expect(await readFile(key, 'utf8')).toBe('the key')
})

test('whatever a media program reports, only media files of requested streams are in the index', async () => {
  const site = await recordingSite()
  await site.order()
  const text = fc.oneof(fc.constantFrom('..', '../seal.key', '/etc', '1001', 'yard', 'a\0b', ''), fc.string())
  const moment = fc.oneof(fc.double(), fc.constantFrom(Date.now(), -1, 1e300, Number.MAX_SAFE_INTEGER, 0))
  const forged = fc.record({
    roomId: text,
    userId: text,
    file: fc.option(text, { nil: undefined }),
    container: fc.constantFrom('mp4', 'webm', '../x'),
    startedAt: moment,
    endedAt: moment,
    bytes: fc.oneof(fc.maxSafeInteger(), fc.constant(10)),
  })
  fc.assert(
    fc.property(forged, ({ roomId, userId, file, container, startedAt, endedAt, bytes }) => {
      const start = { ...begun(), roomId, userId, container, startedAt, ...(file !== undefined && { file }) }
      site.report({ type: 'segmentBegan', segment: start })
      site.report({ type: 'segmentEnded', segment: { ...start, endedAt, bytes, end: 'length' } })
    }),
    { numRuns: 300 },
  )
  for (const segment of site.recordings.storage?.index.segments({}) ?? [])
    expect(segment.file).toBe(segmentPath(yard, segment.startedAt, segment.container))
})

test('a report without a request is rejected: of another stream, another node, another quality', async () => {
  const site = await recordingSite()
  await site.order()
  for (const changes of [{ userId: 'other' }, { roomId: '1002' }, { quality: 'substream' as const }]) {
    const start = begun(changes)
    site.report(began(start))
    site.report(over(ended(start)))
    site.report({ type: 'recordingGap', gap: { ...yard, ...changes, from: Date.now(), to: null, reason: 'silent' } })
  }
  site.report(began(begun()), 'other node')
  expect(site.recordings.storage?.index.open({})).toEqual([])
  expect(site.recordings.storage?.index.segments({})).toEqual([])
  expect(site.recordings.storage?.index.gaps({})).toEqual([])
  // One line, however many there are.
  expect(site.warnings.filter((line) => line.includes('recorder report rejected'))).toHaveLength(1)
})

test('the end of a segment that did not begin, or with an impossible time or size, is rejected', async () => {
  const site = await recordingSite()
  await site.order()
  site.report(over(ended(begun())))
  expect(site.recordings.storage?.index.segments({})).toEqual([])
  const start = begun()
  for (const changes of [
    { endedAt: start.startedAt - 1 },
    { endedAt: start.startedAt + 2 * day },
    { bytes: 2 ** 50 },
  ]) {
    site.report(began(start))
    site.report(over(ended(start, changes)))
    // The file itself is read, and there is none.
    await site.recordings.intake?.settled()
    expect(site.recordings.storage?.index.open({})).toEqual([])
    expect(site.recordings.storage?.index.segments({})).toEqual([])
  }
})

test('late reports that are right are accepted: the request was just withdrawn, the room moved, or an earlier run made it', async () => {
  const site = await recordingSite()
  await site.order()
  const [first, second, third] = [
    begun(),
    begun({ startedAt: Date.now() - 500 }),
    begun({ startedAt: Date.now() - 100 }),
  ]
  site.report(began(first))
  site.recordings.orders.remove('test')
  await expect.poll(() => site.recordings.orders.rooms.wants(yard)).toBe(false)
  // On its way when the order was withdrawn.
  site.report(began(second))
  site.moveTo('next')
  site.report(over(ended(first, { end: 'stopped' })))
  site.report(over(ended(second, { end: 'stopped', endedAt: second.startedAt + 100 })))
  site.report({ type: 'recordingGap', gap: { ...yard, from: Date.now(), to: null, reason: 'away' } })
  expect(site.recordings.storage?.index.segments({}).map(({ end }) => end)).toEqual(['stopped', 'stopped'])
  expect(site.recordings.storage?.index.gaps({})).toHaveLength(1)
  // Stored as begun by an earlier run of the controller.
  site.recordings.storage?.index.writer.began({ ...third, file: segmentPath(third, third.startedAt, 'mp4') })
  site.report(over(ended(third, { endedAt: third.startedAt + 50 })))
  expect(site.recordings.storage?.index.segments({})).toHaveLength(3)
  expect(site.warnings).toEqual([])
})

test('the file of a segment with a rejected end is read, and counts by its content', async () => {
  const site = await recordingSite()
  await site.order()
  const start = begun()
  const path = join(site.folder, segmentPath(start, start.startedAt, 'mp4'))
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'no recording')
  site.report(began(start))
  site.report(over(ended(start, { bytes: 2 ** 50 })))
  await site.recordings.intake?.settled()
  expect(site.recordings.storage?.index.segments({})).toEqual([])
  expect(existsSync(path)).toBe(true)
})

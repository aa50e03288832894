import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test, vi } from 'vitest'
import { indexFile } from '../../../server/recordings/index/index-folder.ts'
import { StoredIndex } from '../../../server/recordings/index/stored-index.ts'
import { lackingSpans } from '../../../server/recordings/time-line.ts'
import type { Shortcoming } from '../../../shared/media/transcoding.ts'
import { beginning, cameraStream, complete } from '../../support/recordings/segment-facts.ts'

const noon = Date.UTC(2026, 10, 25, 12)
const minute = 60_000
const yard = cameraStream('yard')
const gate = cameraStream('gate')
const opened: StoredIndex[] = []

afterEach(() => {
  for (const index of opened.splice(0)) index.close()
})

function open(folder = mkdtempSync(join(tmpdir(), 'recording-index-')), isKept = () => false, onDamage = vi.fn()) {
  const index = new StoredIndex({ folder, kept: { covers: isKept }, onDamage })
  opened.push(index)
  return { index, folder, onDamage }
}

function record(index: StoredIndex, stream = yard, minutes = 3, from = noon): void {
  for (let each = 0; each < minutes; each++) {
    const start = beginning(stream, from + each * minute)
    index.writer.began(start)
    index.writer.ended(complete(start))
  }
}

test('a segment keeps its id while it is written and afterwards, also after a restart', () => {
  const { index, folder } = open()
  const start = beginning(yard, noon)
  const id = index.writer.began(start)
  expect(index.writer.began(start)).toBe(id)
  expect(index.open(yard)).toEqual([{ ...start, id }])
  expect(index.segments(yard)).toEqual([])
  index.close()
  opened.pop()
  const { index: again } = open(folder)
  expect(again.open({})).toEqual([{ ...start, id }])
  expect(again.writer.ended(complete(start))).toBe(id)
  expect(again.open({})).toEqual([])
  expect(again.segment(id)).toEqual({ ...complete(start), id, kept: false, stored: 'local' })
})

test('a time line shows which tracks recordings do not hold, also in an index of an earlier version', () => {
  const { index, folder } = open()
  const lacks: Shortcoming[] = [{ kind: 'audio', way: 'none', reason: 'speex', detail: 'Speex', recorded: false }]
  index.writer.ended(complete(beginning(yard, noon)))
  index.close()
  opened.pop()
  const database = new DatabaseSync(join(folder, indexFile))
  database.exec(
    'DROP INDEX segments_lacking; DROP TABLE lacks; ALTER TABLE segments DROP COLUMN lack; PRAGMA user_version = 2',
  )
  database.close()
  const { index: upgraded } = open(folder)
  expect(upgraded.isNew).toBe(false)
  for (const each of [1, 2]) upgraded.writer.ended(complete(beginning(yard, noon + each * minute, { lacks })))
  upgraded.writer.ended(complete(beginning(gate, noon, { lacks })))
  expect(upgraded.segments(yard).map((segment) => segment.lacks)).toEqual([undefined, lacks, lacks])
  const found = upgraded.lacking(yard, noon, noon + 10 * minute, 10)
  expect(lackingSpans(found, 1_000)).toEqual([{ from: noon + minute, to: noon + 3 * minute, tracks: lacks }])
})

test('an id is not reused after its segment was deleted and the program restarted', () => {
  const { index, folder } = open()
  record(index, yard, 1)
  const [only] = index.segments(yard)
  index.deletions.deleteSpan(yard, { from: 0, to: noon * 2 }, 10)
  index.close()
  opened.pop()
  const { index: again } = open(folder)
  expect(again.writer.began(beginning(yard, noon))).toBeGreaterThan(only?.id ?? 0)
})

test('a search finds the segments that overlap its time, of one stream, of a room, of all', () => {
  const { index } = open()
  record(index, yard)
  record(index, gate)
  record(index, cameraStream('hall', '2002'), 2)
  const times = (found: readonly { startedAt: number }[]) => found.map(({ startedAt }) => (startedAt - noon) / minute)
  expect(times(index.segments({ ...yard, from: noon + 30_000, to: noon + minute + 1 }))).toEqual([0, 1])
  expect(times(index.segments({ ...yard, from: noon + minute, to: noon + 2 * minute }))).toEqual([1])
  expect(times(index.segments({ roomId: '1001' }))).toEqual([0, 0, 1, 1, 2, 2])
  expect(index.segments({})).toHaveLength(8)
  expect(index.segments({ limit: 3 })).toHaveLength(3)
  expect(index.segments(cameraStream('nobody'))).toEqual([])
})

test('a gap lasts until the next segment of its stream, and another reason begins another gap', () => {
  const { index } = open()
  const names = { userName: 'Yard', topic: 'Weekly', device: true }
  index.writer.gap({ ...yard, from: noon, to: null, reason: 'away' }, names)
  index.writer.gap({ ...yard, from: noon + 1_000, to: null, reason: 'away' }, names)
  index.writer.gap({ ...yard, from: noon + 2_000, to: null, reason: 'nodeAway' }, names)
  expect(index.gaps(yard)).toEqual([
    { ...yard, from: noon, to: noon + 2_000, reason: 'away' },
    { ...yard, from: noon + 2_000, to: null, reason: 'nodeAway' },
  ])
  index.writer.began(beginning(yard, noon + 9_000))
  expect(index.gaps({ ...yard, from: noon + 3_000 })).toEqual([
    { ...yard, from: noon + 2_000, to: noon + 9_000, reason: 'nodeAway' },
  ])
})

test('the list of sources contains names, extent and size, and drops a source with its last segment', () => {
  const { index } = open()
  record(index, yard)
  record(index, gate, 1, noon + 10 * minute)
  expect(index.sources()).toMatchObject([
    { userId: 'gate', segments: 1 },
    {
      ...yard,
      userName: 'Camera yard',
      topic: 'Weekly',
      device: true,
      firstAt: noon,
      lastAt: noon + 3 * minute,
      bytes: 45_000_000,
      segments: 3,
    },
  ])
  expect(index.sources({ search: 'YARD' }).map(({ userId }) => userId)).toEqual(['yard'])
  expect(index.sources({ search: '%' })).toEqual([])
  expect(index.deletions.deleteOldest(yard, noon + 1.5 * minute, 10)).toEqual({ segments: 1, bytes: 15_000_000 })
  expect(index.sources({ roomIds: ['1001'], to: noon + minute })).toEqual([])
  expect(index.sources()).toContainEqual(expect.objectContaining({ firstAt: noon + minute, segments: 2 }))
  index.deletions.deleteSpan(gate, { from: 0, to: noon * 2 }, 10)
  expect(index.sources().map(({ userId }) => userId)).toEqual(['yard'])
  expect(index.totals()).toMatchObject({ bytes: 30_000_000, segments: 2, firstAt: noon + minute })
})

test('a source is listed while its first segment is written, and not if that segment is discarded', () => {
  const { index } = open()
  const start = beginning(yard, noon)
  index.writer.began(start)
  expect(index.sources()).toMatchObject([{ userId: 'yard', firstAt: noon, lastAt: noon, segments: 0 }])
  expect(index.countSources({})).toBe(1)
  index.writer.discardOpen(start)
  expect(index.sources()).toEqual([])
  index.writer.began(start)
  index.writer.ended(complete(start))
  index.writer.began(beginning(yard, noon + minute))
  expect(index.sources()).toMatchObject([{ firstAt: noon, lastAt: noon + minute, segments: 1 }])
})

test('kept segments survive every deletion', () => {
  const { index } = open()
  record(index, yard, 4)
  const span = { from: noon + minute, to: noon + 2 * minute }
  expect(index.writer.setKept(yard, span, true, 10)).toEqual({ segments: 1, bytes: 15_000_000 })
  expect(index.totals().keptBytes).toBe(15_000_000)
  index.deletions.deleteOldest(yard, noon * 2, 1)
  index.deletions.deleteOldestOfAll(1)
  index.deletions.deleteSpan(yard, { from: 0, to: noon * 2 }, 10)
  expect(index.segments(yard).map(({ startedAt, kept }) => [startedAt, kept])).toEqual([[noon + minute, true]])
  const files = index.deletions.removals(10)
  expect(files.map(({ bytes }) => bytes)).toEqual([15_000_000, 15_000_000, 15_000_000])
  expect(files[0]?.file).toBe(beginning(yard, noon).file)
  index.deletions.removed(files.map(({ id }) => id))
  expect(index.deletions.waitingRemovals().files).toBe(0)
  index.writer.setKept(yard, span, false, 10)
  expect(index.deletions.deleteOldestOfAll(5)).toEqual({ segments: 1, bytes: 15_000_000 })
})

test('a segment that ends in a kept span is kept', () => {
  const { index } = open(undefined, () => true)
  record(index, yard, 1)
  expect(index.segments(yard)[0]?.kept).toBe(true)
})

test('listeners receive the streams that changed', () => {
  const { index } = open()
  const changed = vi.fn()
  const stop = index.onChange((streams) => void changed(streams.map(({ userId }) => userId)))
  record(index, yard, 1)
  index.deletions.deleteOldestOfAll(1)
  stop()
  record(index, gate, 1)
  expect(changed.mock.calls).toEqual([[['yard']], [['yard']], [['yard']]])
})

test('a file that is not SQLite is set aside when the index opens', () => {
  const { index, folder } = open()
  index.close()
  opened.pop()
  writeFileSync(join(folder, 'index.sqlite'), 'a text in place of an index '.repeat(300))
  const { index: again, onDamage } = open(folder)
  expect(onDamage).toHaveBeenCalledOnce()
  expect(again.isNew).toBe(true)
  record(again, yard, 1)
  expect(again.segments(yard)).toHaveLength(1)
  expect(readFileSync(join(folder, 'index.sqlite.damaged'), 'utf8')).toContain('a text')
})

test('damage detected while the index is in use empties it, and work continues', () => {
  const { index, folder } = open()
  record(index, yard, 500)
  index.close()
  opened.pop()
  const path = join(folder, 'index.sqlite')
  const bytes = readFileSync(path)
  // Everything behind the tables' own page.
  bytes.fill(0x55, 4_096)
  writeFileSync(path, bytes)
  const { index: again, onDamage } = open(folder)
  record(again, yard, 1)
  expect(again.segments(yard)).toHaveLength(1)
  expect(onDamage).toHaveBeenCalledOnce()
})

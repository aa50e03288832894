import { appendFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { rebuildIndex } from '../../../server/recordings/index-recovery.ts'
import { StoredIndex } from '../../../server/recordings/index/stored-index.ts'
import { RecordingNotes } from '../../../server/recordings/recording-notes.ts'
import { record } from '../../support/recordings/recorded-files.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

vi.setConfig({ testTimeout: 60_000 })
const logger = pino({ level: 'silent' })
const noon = Date.UTC(2026, 10, 25, 12)

function open(folder: string, notes?: RecordingNotes): StoredIndex {
  const index = new StoredIndex({ folder, kept: { covers: () => false }, onDamage: vi.fn(), notes })
  onTestFinished(() => index.close())
  return index
}

async function rebuild(folder: string, index: StoredIndex) {
  const signal = AbortSignal.timeout(30_000)
  return await rebuildIndex({ folder, index, isOpen: () => false, progress: () => {}, signal, logger })
}

/** Everything that an index holds of a folder, but for its own numbers. */
function contents(index: StoredIndex) {
  const segments = index.segments({}).map(({ id: _, ...segment }) => segment)
  return { segments, gaps: index.gaps({}), sources: index.sources() }
}

test('a lost index is rebuilt from the files alone, a cut-off one is repaired, newest first', async () => {
  const folder = await temporaryFolder()
  const whole = await record({ folder, userId: 'yard', startedAt: noon })
  const cut = await record({ folder, userId: 'gate', startedAt: noon + 60_000, growing: true })
  const index = open(folder)
  const order: string[] = []
  index.onChange((streams) => order.push(...streams.map(({ userId }) => userId)))
  const progress = vi.fn()
  const signal = AbortSignal.timeout(30_000)
  const rebuilt = await rebuildIndex({ folder, index, isOpen: () => false, progress, signal, logger })
  expect(rebuilt).toMatchObject({ segments: whole.length + cut.length, repaired: 1, unreadable: 0 })
  const read = whole.length + cut.length - 1
  expect(progress).toHaveBeenLastCalledWith(read, read)
  const found = index.segments({ userId: 'yard' })
  expect(found.map(({ file, startedAt, bytes, videoCodec }) => ({ file, startedAt, bytes, videoCodec }))).toEqual(
    whole.map(({ file, startedAt, bytes, videoCodec }) => ({ file, startedAt, bytes, videoCodec })),
  )
  for (const [position, { endedAt }] of found.entries())
    expect(Math.abs(endedAt - (whole[position]?.endedAt ?? 0))).toBeLessThan(100)
  expect(index.segments({ userId: 'gate' }).at(-1)?.end).toBe('cut')
  // The last word of the cut-off stream is the gap behind it.
  expect(order.slice(-2)).toEqual(['yard', 'gate'])
})

test('a rebuilt index equals the lost one: gaps, ends, names, and cameras that never appeared', async () => {
  const folder = await temporaryFolder()
  const notes = new RecordingNotes(folder, logger)
  const index = new StoredIndex({ folder, kept: { covers: () => false }, onDamage: vi.fn(), notes })
  // Some seconds before midnight: the notes are in the folders of two days.
  const midnight = noon + 12 * 60 * 60_000
  const [first, second, third] = await record({ folder, userId: 'yard', startedAt: midnight - 6_000 })
  if (first === undefined || second === undefined || third === undefined) return expect.fail('too few segments')
  const { roomId, source, quality, userName, topic, device } = first
  const yard = { roomId, userId: 'yard', source, quality }
  index.writer.gap({ ...yard, from: first.startedAt - 60_000, to: null, reason: 'away' }, first)
  index.writer.began(first)
  index.writer.ended({ ...first, end: 'silent', endedAt: first.endedAt - 0.25 })
  index.writer.gap({ ...yard, from: first.endedAt, to: null, reason: 'silent' }, first)
  index.writer.gap({ ...yard, from: first.endedAt + 100, to: null, reason: 'diskFull' }, first)
  index.writer.began(second)
  index.writer.ended({ ...second, end: 'format' })
  index.writer.began(third)
  index.writer.ended({ ...third, end: 'stopped' })
  index.writer.gap({ ...yard, from: third.endedAt, to: null, reason: 'paused' }, first)
  index.writer.endGap(yard, third.endedAt + 5_000)
  const never = { ...yard, userId: 'never' }
  index.writer.gap({ ...never, from: noon, to: null, reason: 'away' }, { userName: '大门', topic, device })
  await notes.write()
  // A power cut tears the last line of the notes.
  await appendFile(join(folder, dirname(third.file), 'notes.jsonl'), '{"type":"gap","fro')
  index.writer.gap({ ...yard, from: third.endedAt + 6_000, to: third.endedAt + 7_000, reason: 'codec' }, first)
  await notes.close()
  const before = contents(index)
  expect(before.gaps).toHaveLength(6)
  expect(userName).toBe('Camera')
  index.close()
  for (const suffix of ['', '-wal', '-shm']) await rm(join(folder, `index.sqlite${suffix}`), { force: true })
  const rebuilt = open(folder)
  await rebuild(folder, rebuilt)
  expect(contents(rebuilt)).toEqual(before)
  await rebuild(folder, rebuilt)
  expect(contents(rebuilt)).toEqual(before)
})

test('a complete recording without a noted end was cut off, and is followed by a gap until the next one', async () => {
  const folder = await temporaryFolder()
  const notes = new RecordingNotes(folder, logger)
  const first = open(folder, notes)
  const [before] = await record({ folder, userId: 'yard', startedAt: noon, segmentSeconds: 60 })
  const [after] = await record({ folder, userId: 'yard', startedAt: noon + 60_000, segmentSeconds: 60 })
  for (const segment of [before, after]) if (segment !== undefined) first.writer.began(segment)
  if (after !== undefined) first.writer.ended(after)
  await notes.close()
  const index = open(await temporaryFolder())
  await rebuild(folder, index)
  const segments = index.segments({})
  expect(segments.map(({ end }) => end)).toEqual(['cut', 'length'])
  expect(index.gaps({})).toMatchObject([{ from: segments[0]?.endedAt, to: after?.startedAt, reason: 'nodeAway' }])
})

test('a recording that was cut off is followed by a gap, and one for live viewing only stays so', async () => {
  const folder = await temporaryFolder()
  const notes = new RecordingNotes(folder, logger)
  const first = open(folder, notes)
  const [live] = await record({ folder, userId: 'door', startedAt: noon, segmentSeconds: 60 })
  const cut = await record({ folder, userId: 'gate', startedAt: noon, growing: true })
  if (live !== undefined) first.writer.ended(live, true)
  await notes.close()
  const index = open(await temporaryFolder())
  await rebuild(folder, index)
  const last = index.segments({ userId: 'gate' }).at(-1)
  expect(last).toMatchObject({ startedAt: cut.at(-1)?.startedAt, end: 'cut' })
  expect(index.gaps({})).toMatchObject([{ userId: 'gate', from: last?.endedAt, to: null, reason: 'nodeAway' }])
  expect(index.deletions.deleteLive(noon + 3_600_000, 10)).toMatchObject({ segments: 1 })
})

test('a file that is missing or of another program does not stop the rebuild', async () => {
  const folder = await temporaryFolder()
  const [first, second] = await record({ folder, userId: 'yard', startedAt: noon })
  await rm(join(folder, first?.file ?? ''))
  const index = open(folder)
  const signal = AbortSignal.timeout(30_000)
  await rebuildIndex({ folder, index, isOpen: () => false, progress: () => {}, signal, logger })
  expect(index.segments({})[0]?.startedAt).toBe(second?.startedAt)
})

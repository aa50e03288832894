import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  findRecordings,
  readSegment,
  type Repaired,
  repairRecordings,
} from '../../server/recordings/index/recorded-files.ts'
import type { Segment } from '../../shared/recordings/segment.ts'
import { decodeRecorded, readRecorded } from '../support/recordings/recorded-file.ts'
import { record } from '../support/recordings/recorded-files.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-repair-'))
})
afterAll(async () => await rm(folder, { recursive: true }))

let lastStart = Date.UTC(2026, 10, 25, 12)
async function recorded(codec: 'h264' | 'vp8' = 'h264'): Promise<{ segment: Segment; path: string; bytes: Buffer }> {
  lastStart += 60_000
  const [segment = expect.fail('no segment')] = await record({
    folder,
    roomId: 'yard',
    userId: codec,
    film: { codec, seconds: 12 },
    segmentSeconds: 60,
    startedAt: lastStart,
  })
  const path = join(folder, segment.file)
  return { segment, path, bytes: await readFile(path) }
}

/** Leaves a file as a power cut does. */
async function leave(path: string, bytes: Buffer): Promise<void> {
  await rm(path)
  await writeFile(`${path}.part`, bytes)
}

async function repaired(isOpen?: Parameters<typeof repairRecordings>[1]): Promise<Repaired[]> {
  return await allOf(repairRecordings(folder, isOpen))
}

async function allOf<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
}

test.each(['h264', 'vp8'] as const)(
  'a cut tail of %s is cut off at any byte, and the rest plays to its real end',
  async (codec) => {
    const { segment, path, bytes } = await recorded(codec)
    for (const share of [0.35, 0.5, 0.83, 0.999]) {
      await leave(path, bytes.subarray(0, Math.floor(bytes.length * share)))
      const [outcome, ...others] = await repaired()
      expect(others).toEqual([])
      if (outcome?.outcome !== 'repaired') return expect.fail(JSON.stringify(outcome))
      expect(outcome.segment).toMatchObject({
        file: segment.file,
        startedAt: segment.startedAt,
        end: 'cut',
        userId: codec,
      })
      const file = await readRecorded(path)
      await decodeRecorded(path)
      const seconds = (outcome.segment.endedAt - segment.startedAt) / 1_000
      expect(Math.abs(file.duration - seconds)).toBeLessThan(0.15)
      // At most a group of pictures (1 s) and a fragment (1 s) are lost.
      expect(seconds).toBeGreaterThan(12 * share - 2.5)
      expect((await readFile(path)).length).toBe(outcome.segment.bytes)
    }
  },
)

test('the complete part of a file ends before a block that a power cut left unwritten', async () => {
  const { segment, path, bytes } = await recorded()
  const half = Math.floor(bytes.length / 2)
  await leave(path, Buffer.concat([bytes.subarray(0, half), Buffer.alloc(bytes.length - half)]))
  const [outcome] = await repaired()
  expect(outcome).toMatchObject({ outcome: 'repaired', file: segment.file })
  expect((await readRecorded(path)).duration).toBeGreaterThan(3)
})

test('a file with nothing on disk is removed, and an unreadable one is set aside', async () => {
  const empty = await recorded()
  await leave(empty.path, empty.bytes.subarray(0, 700))
  const nothing = await recorded()
  await leave(nothing.path, Buffer.alloc(0))
  const broken = await recorded()
  await leave(broken.path, Buffer.alloc(300_000, 7))
  const outcomes = await repaired()
  expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['damaged', 'empty', 'empty'])
  const names = await readdir(dirname(broken.path))
  expect(names).toContain(`${basename(broken.path)}.damaged`)
  expect(names.some((name) => name.startsWith(basename(empty.path)))).toBe(false)
})

test('a file that is being written is left unchanged, and complete ones are found with their properties', async () => {
  const { segment, path, bytes } = await recorded()
  const complete = await recorded()
  await leave(path, bytes.subarray(0, bytes.length / 2))
  expect(await repaired(({ file }) => file === segment.file)).toEqual([])
  const found = await allOf(findRecordings(folder))
  expect(found).toContainEqual(expect.objectContaining({ file: segment.file, isPart: true }))
  expect(found).toContainEqual({
    file: complete.segment.file,
    container: 'mp4',
    startedAt: complete.segment.startedAt,
    isPart: false,
  })
  const read = await readSegment(folder, complete.segment.file)
  const { endedAt, end: _, ...facts } = complete.segment
  expect(read).toMatchObject(facts)
  expect(Math.abs((read?.endedAt ?? 0) - endedAt)).toBeLessThan(100)
  expect(await readSegment(folder, 'nothing/here.mp4').catch(() => 'no file')).toBeUndefined()
})

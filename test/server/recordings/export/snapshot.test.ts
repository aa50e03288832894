import { mkdtemp, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SegmentSnapshots } from '../../../../server/recordings/export/ffmpeg-convert.ts'
import { SegmentFiles, type WholeFile } from '../../../../server/recordings/playback/segment-sources.ts'
import { partSuffix } from '../../../../shared/recordings/segment-path.ts'
import type { SegmentStart } from '../../../../shared/recordings/segment.ts'
import { record } from '../../../support/recordings/recorded-files.ts'
import { insideOf } from '../../../../shared/files/own-path.ts'

/** Pictures of a segment, whose file gets its final name when the segment is complete. */

const ffmpeg = { path: 'ffmpeg', version: '', pictures: undefined, vp8: false, sound: false }
const signal = AbortSignal.timeout(30_000)

async function openSegment(): Promise<{ folder: string; segment: SegmentStart }> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [segment] = await record({ folder, startedAt: Date.UTC(2026, 8, 21, 10), film: { seconds: 4 }, growing: true })
  if (segment === undefined) throw new Error('nothing was recorded')
  return { folder, segment }
}

const isJpeg = (bytes: Buffer | undefined): boolean => bytes?.subarray(0, 3).toString('hex') === 'ffd8ff'

test('A snapshot is made of a segment that is completed just before ffmpeg opens it', async () => {
  const { folder, segment } = await openSegment()
  const files = new SegmentFiles(folder)
  const paths: string[] = []
  const fileOf = async (): Promise<WholeFile> => {
    const file = await files.fileOf(segment, signal)
    paths.push(file.path)
    if (file.path.endsWith(partSuffix)) await rename(file.path, file.path.slice(0, -partSuffix.length))
    return file
  }
  expect(isJpeg(await new SegmentSnapshots({ fileOf }).make(ffmpeg, segment, 1, signal))).toBe(true)
  expect(paths).toHaveLength(2)
})

test('A snapshot that fails is reported with the last lines of ffmpeg', async () => {
  const { folder, segment } = await openSegment()
  const path = insideOf(folder, 'nowhere.mp4')
  const fileOf = (): Promise<WholeFile> => Promise.resolve({ path, open: () => open(path) })
  await expect(new SegmentSnapshots({ fileOf }).make(ffmpeg, segment, 1, signal)).rejects.toThrow('No such file')
})

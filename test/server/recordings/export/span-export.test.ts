import { execFile } from 'node:child_process'
import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { insideOf } from '../../../../shared/files/own-path.ts'
import { askProgram, findProgram } from '../../../../server/nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { SpanExport, type SpanOptions } from '../../../../server/recordings/export/span-export.ts'
import type { ExportSpan } from '../../../../server/recordings/export/export-span.ts'
import { type RecordingsSite, recordingsSite } from '../../../support/recordings/recordings-site.ts'

const run = promisify(execFile)
const startedAt = Date.UTC(2026, 8, 21, 10)
const whole: SpanOptions = { format: 'mp4', keepGaps: false }

async function exporting(site: RecordingsSite, hasFfmpeg = true): Promise<{ made: SpanExport; folder: string }> {
  const folder = await mkdtemp(join(site.folder, 'export-'))
  const path = hasFfmpeg ? await findProgram('') : undefined
  const program = path === undefined ? undefined : await askProgram(path)
  const { index, playback } = site
  const made = new SpanExport({ files: site.files, index, tables: playback.tables, ffmpeg: async () => program })
  return { made, folder }
}

function wishOf(fromSeconds: number, toSeconds: number, more: Partial<ExportSpan> = {}): ExportSpan {
  const stream = { roomId: '1000', userId: 'camera', source: 'main', quality: 'main' } as const
  return {
    ...stream,
    picture: true,
    sound: true,
    from: startedAt + fromSeconds * 1_000,
    to: startedAt + toSeconds * 1_000,
    ...more,
  }
}

interface Probe {
  format: { duration: string; format_name: string }
  streams: { codec_name: string; nb_read_packets: string; width?: number }[]
}

/** Facts of a file as ffprobe sees it; every packet is read. */
async function probe(path: string): Promise<Probe> {
  const asked = ['-v', 'error', '-count_packets', '-show_format', '-show_streams', '-of', 'json', path]
  const { stdout, stderr } = await run('ffprobe', asked)
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Probe
}

/** Decodes the whole file, and expects that nothing is wrong with it. */
async function decode(path: string): Promise<void> {
  const { stderr } = await run('ffmpeg', ['-v', 'error', '-i', path, '-f', 'null', '-'])
  expect(stderr).toBe('')
}

/** Times of the pictures, in seconds. */
async function times(path: string): Promise<number[]> {
  const shown = ['-select_streams', 'v', '-show_entries', 'packet=pts_time', '-of', 'csv=p=0', path]
  const { stdout } = await run('ffprobe', ['-v', 'error', ...shown])
  return stdout.trim().split('\n').map(Number.parseFloat)
}

/** Types of the boxes of an MP4, in their order. */
async function boxes(path: string): Promise<string[]> {
  const file = await open(path)
  const types: string[] = []
  const header = Buffer.alloc(16)
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(header, 0, 16, at)
    if (bytesRead < 8) break
    types.push(header.toString('latin1', 4, 8))
    const size = header.readUInt32BE(0)
    at += size === 1 ? Number(header.readBigUInt64BE(8)) : size
  }
  await file.close()
  return types
}

const films = [
  ['H.264 and Opus', { codec: 'h264' }, ['h264', 'opus']],
  ['H.264 and AAC', { codec: 'h264', sound: 'aac' }, ['h264', 'aac']],
  ['H.265 and Opus', { codec: 'h265' }, ['hevc', 'opus']],
  ['H.264 alone', { codec: 'h264', sound: 'none' }, ['h264']],
] as const

test.each(films)('A span becomes one plain MP4, with its index first: %s', async (_name, film, codecs) => {
  const site = await recordingsSite()
  await site.record({ startedAt, film })
  const { made, folder } = await exporting(site)
  const path = insideOf(folder, 'span.mp4')
  // From the key frame before 2.5 s, over two seams, up to 9.0 s.
  const file = await made.writeFile(wishOf(2.5, 9), path)
  const { format, streams } = await probe(path)
  expect(streams.map(({ codec_name }) => codec_name)).toEqual(codecs)
  expect(Number(streams[0]?.nb_read_packets)).toBe(175)
  expect(Number(format.duration)).toBeCloseTo(7, 1)
  expect(file.durationMs / 1_000).toBeCloseTo(7, 1)
  const types = await boxes(path)
  expect(types.indexOf('moov')).toBeLessThan(types.indexOf('mdat'))
  expect(types).not.toContain('moof')
  await decode(path)
  // No picture is missing or double at the seams.
  const shown = await times(path)
  for (const [number, time] of shown.entries()) expect(time).toBeCloseTo(number / 25, 1)
})

test('Gaps are closed, or kept at their length', async () => {
  const site = await recordingsSite()
  const [, second = 0] = await site.record({ startedAt })
  const missing = site.index.segment(second)
  if (missing === undefined) throw new Error('nothing was recorded')
  await rm(join(site.folder, missing.file))
  const { made, folder } = await exporting(site)
  const pathOf = (name: string) => () => insideOf(folder, name)
  await made.writeFiles(wishOf(0, 12), pathOf('closed.mp4'), whole)
  await made.writeFiles(wishOf(0, 12), pathOf('kept.mp4'), { ...whole, keepGaps: true })
  const [closed, kept] = [await times(insideOf(folder, 'closed.mp4')), await times(insideOf(folder, 'kept.mp4'))]
  expect([closed.length, kept.length]).toEqual([200, 200])
  expect(closed[100]).toBeCloseTo(4, 1)
  expect(kept[100]).toBeCloseTo(8, 1)
  await decode(insideOf(folder, 'kept.mp4'))
})

test('No picture is lost if the clock of a segment is behind that of the previous one', async () => {
  const site = await recordingsSite()
  const later = await recordingsSite()
  const ids = await site.record({ startedAt })
  for (const [number, id] of ids.entries()) {
    const segment = site.index.segment(id) ?? expect.fail('nothing was recorded')
    later.index.add([{ ...segment, startedAt: segment.startedAt - number * 90 }])
  }
  const { made, folder } = await exporting({ ...site, index: later.index })
  await made.writeFile(wishOf(0, 12), insideOf(folder, 'all.mp4'))
  expect(await times(insideOf(folder, 'all.mp4'))).toHaveLength(300)
  await decode(insideOf(folder, 'all.mp4'))
})

test('Picture or sound alone is exported', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt })
  const { made, folder } = await exporting(site)
  await made.writeFile(wishOf(1.3, 6, { picture: false }), insideOf(folder, 'sound.mp4'))
  const sound = await probe(insideOf(folder, 'sound.mp4'))
  expect(sound.streams.map(({ codec_name }) => codec_name)).toEqual(['opus'])
  expect(Number(sound.format.duration)).toBeCloseTo(4.7, 1)
  await made.writeFile(wishOf(1.3, 6, { sound: false }), insideOf(folder, 'picture.mp4'))
  expect((await probe(insideOf(folder, 'picture.mp4'))).streams).toHaveLength(1)
})

const plainFilms = [
  ['mp4', 'h264', 'h264'],
  ['mp4', 'h265', 'hevc'],
  ['compatible', 'h264', 'h264'],
  ['compatible', 'h265', 'h264'],
] as const

test.each(plainFilms)(
  'Opus is converted to AAC, which every player supports: %s of %s',
  async (format, codec, picture) => {
    const site = await recordingsSite()
    await site.record({ startedAt, film: { codec } })
    const { made, folder } = await exporting(site)
    const path = insideOf(folder, 'compatible.mp4')
    const parts: number[] = []
    const progress = (done: number): void => void parts.push(done)
    await made.writeFiles(wishOf(0, 12), () => path, { ...whole, format, progress })
    const { streams } = await probe(path)
    expect(streams.map(({ codec_name }) => codec_name)).toEqual([picture, 'aac'])
    expect(Number(streams[0]?.nb_read_packets)).toBe(300)
    expect((await boxes(path)).indexOf('moov')).toBeLessThan((await boxes(path)).indexOf('mdat'))
    expect(Math.max(...parts)).toBeCloseTo(1, 1)
    expect(await readdir(folder)).toEqual(['compatible.mp4'])
  },
)

test('AAC is copied, and without ffmpeg Opus stays, which the export says', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt, film: { sound: 'aac' } })
  await site.record({ startedAt, userId: 'opus' })
  const { made, folder } = await exporting(site, false)
  const aac = await made.writeFiles(wishOf(0, 12), () => insideOf(folder, 'aac.mp4'), whole)
  expect(aac).toMatchObject([{ unconverted: false }])
  const opus = await made.writeFiles(wishOf(0, 12, { userId: 'opus' }), () => insideOf(folder, 'opus.mp4'), whole)
  expect(opus).toMatchObject([{ unconverted: true }])
})

test('VP8 is converted to H.264 if ffmpeg is available, and is exported as WebM otherwise', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt, film: { codec: 'vp8' } })
  const withFfmpeg = await exporting(site)
  const pathOf = (folder: string) => (number: number, container: string) =>
    insideOf(folder, `span-${number}.${container}`)
  const [mp4] = await withFfmpeg.made.writeFiles(wishOf(0, 12), pathOf(withFfmpeg.folder), whole)
  expect((await probe(mp4?.path ?? '')).streams.map(({ codec_name }) => codec_name)).toEqual(['h264', 'aac'])

  const without = await exporting(site, false)
  const [webm] = await without.made.writeFiles(wishOf(0, 12), pathOf(without.folder), whole)
  expect(webm).toMatchObject({ container: 'webm', unconverted: true })
  expect((await probe(webm?.path ?? '')).streams.map(({ nb_read_packets }) => Number(nb_read_packets))[0]).toBe(300)
  await decode(webm?.path ?? '')
})

test('A camera that changes its size: one file with ffmpeg, one per size without', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt, film: { seconds: 4 } })
  await site.record({ startedAt: startedAt + 4_000, film: { seconds: 4, width: 640, height: 480 } })
  const withFfmpeg = await exporting(site)
  const [one, ...others] = await withFfmpeg.made.writeFiles(
    wishOf(0, 12),
    () => insideOf(withFfmpeg.folder, 'one.mp4'),
    whole,
  )
  expect(others).toEqual([])
  const { streams } = await probe(one?.path ?? '')
  expect(streams.map(({ codec_name, width }) => [codec_name, width])).toEqual([
    ['h264', 640],
    ['aac', undefined],
  ])
  await decode(one?.path ?? '')
  expect(await readdir(withFfmpeg.folder)).toEqual(['one.mp4'])

  const without = await exporting(site, false)
  const files = await without.made.writeFiles(
    wishOf(0, 12),
    (number) => insideOf(without.folder, `${number}.mp4`),
    whole,
  )
  const widths = await Promise.all(files.map(async ({ path }) => (await probe(path)).streams[0]?.width))
  expect(widths).toEqual([320, 640])
  expect(files.map(({ at }) => Math.round((at - startedAt) / 1_000))).toEqual([0, 4])
})

test('An export that is stopped, or has no media, leaves no file', async () => {
  const site = await recordingsSite()
  await site.record({ startedAt })
  const { made, folder } = await exporting(site)
  const stopped = AbortSignal.abort()
  await expect(made.writeFile(wishOf(0, 12), insideOf(folder, 'a.mp4'), stopped)).rejects.toThrow('aborted')
  await expect(made.writeFile(wishOf(100, 120), insideOf(folder, 'b.mp4'))).rejects.toThrow('nothing')
  expect(await readdir(folder)).toEqual([])
})

import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { type FragmentTable, FragmentTables } from '../../../../server/recordings/playback/fragment-table.ts'
import { SegmentFiles } from '../../../../server/recordings/playback/segment-sources.ts'
import { record } from '../../../support/recordings/recorded-files.ts'

const run = promisify(execFile)
const startedAt = Date.UTC(2026, 8, 21, 10)

async function recordingsFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Key frames of a file as ffprobe sees them: times in seconds. */
async function keyTimes(path: string): Promise<number[]> {
  const asked = [
    '-v',
    'error',
    '-select_streams',
    'v',
    '-show_entries',
    'packet=pts_time,flags',
    '-of',
    'csv=p=0',
    path,
  ]
  const { stdout } = await run('ffprobe', asked)
  const lines = stdout
    .trim()
    .split('\n')
    .filter((line) => line.includes('K'))
  return lines.map((line) => Number(line.split(',')[0]))
}

/** Length of the picture that plays when init and some fragments are put together, in pictures. */
async function picturesOf(bytes: Buffer, table: FragmentTable, from: number, to: number): Promise<number> {
  const path = join(await recordingsFolder(), `part.${table.container}`)
  const pieces = [table.init, ...table.fragments.slice(from, to)].map(({ offset, bytes: length }) =>
    bytes.subarray(offset, offset + length),
  )
  await writeFile(path, Buffer.concat(pieces))
  const asked = [
    '-v',
    'error',
    '-count_frames',
    '-select_streams',
    'v',
    '-show_entries',
    'stream=nb_read_frames',
    '-of',
    'csv=p=0',
    path,
  ]
  const { stdout } = await run('ffprobe', asked)
  return Number.parseInt(stdout, 10)
}

const films = [
  ['H.264 with Opus', { codec: 'h264' }],
  ['H.264 with AAC', { codec: 'h264', sound: 'aac' }],
  ['H.264 without sound', { codec: 'h264', sound: 'none' }],
  ['H.265', { codec: 'h265' }],
  ['VP8', { codec: 'vp8' }],
] as const

test.each(films)('The fragments of a segment are found by its headers: %s', async (_name, film) => {
  const folder = await recordingsFolder()
  const [, second] = await record({ folder, startedAt, film })
  if (second === undefined) throw new Error('the film was too short')
  const table = await new FragmentTables(new SegmentFiles(folder)).of(second)
  const path = join(folder, second.file)
  const bytes = await readFile(path)

  expect(table.growing).toBe(false)
  expect(table.duration).toBeCloseTo(4, 1)
  expect(table.fragments).toHaveLength(4)
  expect(table.init.offset).toBe(0)
  // The pieces lie one behind the other.
  let next = table.init.bytes
  for (const { offset, bytes: length } of table.fragments) {
    expect(offset).toBe(next)
    next += length
  }
  const keys = table.fragments.flatMap(({ keyFrames }) => keyFrames)
  const times = await keyTimes(path)
  expect(keys.map(({ time }) => Math.round(time * 100))).toEqual(times.map((time) => Math.round(time * 100)))
  expect(await picturesOf(bytes, table, 0, 4)).toBe(100)
  expect(await picturesOf(bytes, table, 1, 3)).toBe(50)
})

test('The bytes of a key frame are those that ffprobe reads', async () => {
  const folder = await recordingsFolder()
  for (const codec of ['h264', 'vp8'] as const) {
    const [segment] = await record({ folder, startedAt, film: { codec }, userId: codec })
    if (segment === undefined) throw new Error('nothing was recorded')
    const table = await new FragmentTables(new SegmentFiles(folder)).of(segment)
    const asked = [
      '-v',
      'error',
      '-select_streams',
      'v',
      '-show_entries',
      'packet=size,flags',
      '-of',
      'csv=p=0',
      join(folder, segment.file),
    ]
    const { stdout } = await run('ffprobe', asked)
    const sizes = stdout
      .trim()
      .split('\n')
      .filter((line) => line.includes('K'))
      .map((line) => Number.parseInt(line, 10))
    expect(table.fragments.flatMap(({ keyFrames }) => keyFrames.map(({ bytes }) => bytes))).toEqual(sizes)
  }
})

test.each(['h264', 'vp8'] as const)('A file that grows shows its complete fragments, then all: %s', async (codec) => {
  const folder = await recordingsFolder()
  const [segment] = await record({ folder, startedAt, film: { codec } })
  if (segment === undefined) throw new Error('nothing was recorded')
  const path = join(folder, segment.file)
  const whole = await readFile(path)
  const wanted = await new FragmentTables(new SegmentFiles(folder)).of(segment)
  await rename(path, `${path}.part`)
  await writeFile(`${path}.part`, '')

  const tables = new FragmentTables(new SegmentFiles(folder))
  expect((await tables.of(segment)).fragments).toEqual([])
  const steps = 50
  let before = 0
  for (let step = 0; step < steps; step++) {
    const [from, to] = [step, step + 1].map((edge) => Math.round((edge / steps) * whole.length))
    await appendFile(`${path}.part`, whole.subarray(from, to))
    const table = await tables.of(segment)
    expect(table.growing).toBe(true)
    expect(table.fragments.length).toBeGreaterThanOrEqual(before)
    before = table.fragments.length
    for (const { offset, bytes } of table.fragments) expect(offset + bytes).toBeLessThanOrEqual(to ?? 0)
  }
  await rename(`${path}.part`, path)
  expect(await tables.of(segment)).toEqual(wanted)
})

test('Concurrent callers share one scan', async () => {
  const folder = await recordingsFolder()
  const [segment] = await record({ folder, startedAt })
  if (segment === undefined) throw new Error('nothing was recorded')
  const tables = new FragmentTables(new SegmentFiles(folder))
  const [one, other] = await Promise.all([tables.of(segment), tables.of(segment)])
  expect(one).toBe(other)
})

test('A path that leads out of the folder is refused, and so is a file that is not a recording', async () => {
  const folder = await recordingsFolder()
  const tables = new FragmentTables(new SegmentFiles(folder))
  await expect(tables.of({ file: '../secret.mp4', container: 'mp4' })).rejects.toThrow('is not the path of a recording')
  await writeFile(join(folder, 'text.mp4'), 'This is no film at all, but a text that is long enough.')
  const table = await tables.of({ file: 'text.mp4', container: 'mp4' })
  expect(table.fragments).toEqual([])
})

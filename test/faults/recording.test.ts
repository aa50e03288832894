import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { findRecordings, repairRecordings } from '../../server/recordings/index/recorded-files.ts'
import type { Segment, SegmentStart } from '../../shared/recordings/segment.ts'
import { type FilmCameras, startFilmCameras } from '../support/camera/film-camera.ts'
import { startCamera } from '../support/camera/camera.ts'
import { seededRandom } from '../../shared/seeded-random.ts'
import { readRecorded } from '../support/recordings/recorded-file.ts'
import { recordedFilm } from '../support/recordings/recorded-film.ts'
import { RecordingNode } from '../support/recordings/recording-node.ts'

const rounds = Number(process.env.ROOMDESK_RECORDING_ROUNDS ?? 4)
const seed = Number(process.env.ROOMDESK_HISTORY_SEED ?? Date.now() % 100_000)
const cameraCount = 20
/** Files that ffprobe reads at once. */
const probes = 4
/** Group of pictures of the film, in milliseconds. */
const groupMs = 2_000
/** Longest time that may be missing of what a camera has sent besides a group of pictures, in milliseconds, also on a busy machine. Half of it is for the disk, unless the recorder tells that the disk is later. */
const maxWayMs = 1_000

const preload = (name: string): string[] => [
  '--import',
  pathToFileURL(join(import.meta.dirname, '../support/recordings', name)).href,
]
const patient = { transcoders: 0, camera_answer_ms: 30_000, camera_stall_ms: 30_000 }

let cameras: FilmCameras
beforeAll(async () => {
  cameras = await startFilmCameras(await recordedFilm({ width: 320, height: 180, rate: '500k' }))
}, 60_000)
afterAll(async () => await cameras[Symbol.asyncDispose]())

async function folderOfTest(place = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(place, 'roomdesk-recordings-'))
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }))
  return folder
}

/** Records all cameras in one room. */
async function recordAll(recording: RecordingNode): Promise<void> {
  await recording.node.openRoom('yard', { maxVideo: cameraCount, maxAudio: cameraCount })
  const ids = Array.from({ length: cameraCount }, (_, index) => `cam-${index}`)
  await recording.order('yard', { cameras: ids.map((userId) => ({ userId, quality: 'main' })) })
  await Promise.all(
    ids.map(async (id, index) => await recording.node.addDevice('yard', id, cameras.url(index), {}, 30_000)),
  )
  await recording.began('yard', cameraCount)
}

const syncSchema = z.object({ path: z.string(), size: z.number() })

/** Takes from each file what was written after its last sync. */
async function cutPower(folder: string, log: string): Promise<void> {
  const synced = new Map<string, number>()
  for (const line of (await readFile(log, 'utf8')).split('\n')) {
    if (line === '') continue
    const { path, size } = syncSchema.parse(JSON.parse(line))
    synced.set(path, Math.max(synced.get(path) ?? 0, size))
  }
  for await (const { file, isPart } of findRecordings(folder)) {
    if (!isPart) continue
    const path = join(folder, `${file}.part`)
    const { size } = await stat(path)
    await truncate(path, Math.min(size, synced.get(path) ?? 0))
  }
}

test(`power cuts and kills while ${cameraCount} cameras are recorded: everything plays, at most a group of pictures and a second are missing (seed ${seed})`, {
  timeout: 60_000 + rounds * 60_000,
}, async () => {
  const random = seededRandom(seed)
  const worst: Record<'powerCut' | 'kill' | 'late', number[]> = { powerCut: [], kill: [], late: [] }
  onTestFinished(() => {
    const summaries = Object.entries(worst).map(
      ([fault, all]) => `${fault}: ${all.length} rounds, at most ${Math.round(Math.max(0, ...all))} ms`,
    )
    console.log(summaries.join('; '))
  })
  for (let round = 0; round < rounds; round++) {
    const folder = await folderOfTest()
    // The log waits for no disk that it is about.
    const logs = existsSync('/dev/shm') ? await folderOfTest('/dev/shm') : folder
    const log = join(logs, 'syncs.log')
    const execArgv = [...preload('watch-syncs.mjs'), `--allow-fs-write=${logs}`]
    const recording = await RecordingNode.start(
      { settings: patient, execArgv, env: { ROOMDESK_SYNC_LOG: log } },
      folder,
    )
    await recordAll(recording)
    await recording.holds('yard', groupMs)
    // The first group of each camera is on the disk a second later. Then, at any moment of the groups of pictures and of the syncs:
    await setTimeout(1_000 + random() * groupMs)
    const exited = new Promise<void>((resolve) => recording.node.child.once('exit', () => resolve()))
    const sent = await cameras.sentUntil(cameraCount)
    recording.node.child.kill('SIGKILL')
    await exited
    const late = recording.writeDelayAt(Math.max(...sent))
    const isPowerCut = round % 2 === 0
    if (isPowerCut) await cutPower(folder, log)
    const whole: Pick<Segment, 'file' | 'endedAt' | 'userId' | 'videoCodec'>[] = recording.segments('yard')
    for await (const outcome of repairRecordings(folder)) {
      if (outcome.outcome !== 'repaired') expect(outcome.outcome).toBe('empty')
      else whole.push(outcome.segment)
    }
    const missing = sent.map((until, index) => {
      const ends = whole.filter(({ userId }) => userId === `cam-${index}`).map(({ endedAt }) => endedAt)
      return until - Math.max(recording.beganAt('yard', `cam-${index}`), ...ends)
    })
    worst[isPowerCut ? 'powerCut' : 'kill'].push(Math.max(...missing))
    if (late > 0) worst.late.push(late)
    expect(
      Math.max(...missing),
      `round ${round}, ${Math.round(late)} ms late by the recorder: ${missing.map(Math.round).join(' ')}`,
    ).toBeLessThanOrEqual(groupMs + Math.max(maxWayMs, late + maxWayMs / 2))
    const files: string[] = []
    for await (const { file, isPart } of findRecordings(folder)) {
      expect(isPart).toBe(false)
      files.push(file)
    }
    expect(files.length).toBeGreaterThanOrEqual(cameraCount)
    const check = async (): Promise<void> => {
      for (let file = files.pop(); file !== undefined; file = files.pop()) {
        const read = await readRecorded(join(folder, file))
        const segment = whole.find((each) => each.file === file) ?? expect.fail(`nobody told of ${file}`)
        // On a busy machine a camera's first picture may come long after its first sound.
        expect((segment.videoCodec === '' ? read.sounds : read.pictures).length).toBeGreaterThan(0)
      }
    }
    await Promise.all(Array.from({ length: probes }, check))
    await rm(folder, { recursive: true, force: true })
  }
})

test('a disk that syncs slowly is reported while it is late, and again when it recovers; nothing is lost but time', {
  timeout: 180_000,
}, async () => {
  const folder = await folderOfTest()
  const slowMs = 1_800
  await using recording = await RecordingNode.start(
    { settings: patient, execArgv: preload('slow-syncs.mjs'), env: { ROOMDESK_SLOW_SYNC_MS: String(slowMs) } },
    folder,
  )
  await recordAll(recording)
  await recording.holds('yard', groupMs)
  recording.node.child.kill('SIGUSR2')
  await expect.poll(() => recording.writeDelayAt(0), { timeout: 20_000 }).toBeGreaterThan(1_000)
  // Slow syncs hold back no writes: what plays is as new as ever.
  await recording.holds('yard', 8_000)
  expect(recording.writeDelayAt(0)).toBeLessThan(3 * slowMs)
  recording.node.child.kill('SIGUSR2')
  await expect.poll(() => recording.writeDelayAt(0), { timeout: 90_000 }).toBe(0)
  const segments = await recording.finished('yard')
  expect(segments.filter(({ end }) => end === 'failed')).toEqual([])
  for (const segment of segments) {
    const file = await readRecorded(recording.path(segment))
    expect(Math.abs(file.duration * 1_000 - (segment.endedAt - segment.startedAt))).toBeLessThan(500)
  }
})

test('a full disk ends segments that play, and recording resumes when there is space again', {
  timeout: 120_000,
}, async (context) => {
  const folder = await folderOfTest()
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder])
  if (mounted.status !== 0) context.skip('a tmpfs cannot be mounted here: the test needs root')
  onTestFinished(() => void spawnSync('umount', ['-l', folder]))
  await using recording = await RecordingNode.start({ settings: patient }, folder)
  await recordAll(recording)
  await expect
    .poll(() => recording.gaps('yard').some(({ reason }) => reason === 'diskFull'), { timeout: 60_000 })
    .toBe(true)
  const ended = (): Segment[] => recording.segments('yard').filter(({ end }) => end === 'diskFull')
  await expect.poll(() => ended().length, { timeout: 30_000 }).toBeGreaterThan(0)
  for (const segment of ended().filter(({ bytes }) => bytes > 0)) {
    const file = await readRecorded(recording.path(segment))
    expect(file.pictures.length).toBeGreaterThan(0)
    expect(Math.abs(file.duration * 1_000 - (segment.endedAt - segment.startedAt))).toBeLessThan(500)
  }
  expect(recording.node.child.exitCode).toBeNull()
  const began = recording.events('yard').filter(({ type }) => type === 'segmentBegan').length
  expect(spawnSync('mount', ['-o', 'remount,size=200m', folder]).status).toBe(0)
  await recording.began('yard', began + cameraCount / 2)
  const before = recording.segments('yard').length
  await recording.holds('yard', 1)
  const segments = (await recording.finished('yard')).slice(before)
  expect(segments.some(({ end, bytes }) => end === 'stopped' && bytes > 50_000)).toBe(true)
})

test('a system clock that is set an hour ahead and back begins segments with the new time, and files keep their own', {
  timeout: 240_000,
}, async () => {
  const folder = await folderOfTest()
  await using recording = await RecordingNode.start({ settings: patient, execArgv: preload('move-clock.mjs') }, folder)
  await recordAll(recording)
  const moved = async (): Promise<void> => {
    const before = recording.segments('yard').length
    recording.node.child.kill('SIGUSR2')
    await expect
      .poll(() => recording.segments('yard').length, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(before + cameraCount)
    await recording.holds('yard', groupMs)
  }
  await recording.holds('yard', 1)
  await moved()
  await moved()
  const segments = await recording.finished('yard')
  const ofFirst = segments.filter(({ userId }) => userId === 'cam-0').map(({ startedAt }) => startedAt)
  expect(Math.max(...ofFirst) - Math.min(...ofFirst)).toBeGreaterThan(3_500_000)
  expect(new Set(segments.map(({ file }) => file)).size).toBe(segments.length)
  for (const segment of segments) {
    const file = await readRecorded(recording.path(segment))
    expect(segment.endedAt - segment.startedAt).toBeLessThan(60_000)
    expect(Math.abs(file.duration * 1_000 - (segment.endedAt - segment.startedAt))).toBeLessThan(500)
  }
})

test('a camera that drops repeatedly and returns with another size and codec is recorded each time', {
  timeout: 240_000,
}, async () => {
  const folder = await folderOfTest()
  await using recording = await RecordingNode.start({ settings: { ...patient, camera_stall_ms: 2_000 } }, folder)
  await recording.node.openRoom('gate')
  await recording.order('gate', { cameras: [{ userId: 'cam', quality: 'main' }] })
  const forms = [
    { mount: '/opus', width: 320, height: 180, codec: 'h264' },
    { mount: '/opus', width: 640, height: 360, codec: 'h264' },
    { mount: '/h265', width: 320, height: 180, codec: 'hevc' },
  ]
  for (const { mount, width, height } of forms) {
    await using camera = await startCamera({ width, height, gop: 15 })
    const before = recording.events('gate').filter(({ type }) => type === 'segmentBegan').length
    await recording.node.addDevice('gate', 'cam', camera.url(mount), {}, 30_000)
    await recording.began('gate', before + 1)
    await recording.holds('gate', 3_000)
    await camera.kill()
    const left = (segments: readonly Segment[]): number => segments.filter(({ end }) => end === 'left').length
    const known = left(recording.segments('gate'))
    await expect
      .poll(() => left(recording.segments('gate')), { timeout: 20_000 })
      .toBeGreaterThanOrEqual(Math.max(1, known))
    await expect.poll(() => recording.gaps('gate').at(-1)?.reason, { timeout: 20_000 }).toBe('away')
  }
  const segments = await recording.finished('gate')
  const found = new Set<string>()
  for (const segment of segments) {
    const file = await readRecorded(recording.path(segment))
    found.add(`${file.codecs[0] ?? ''} ${file.width}x${file.height}`)
    expectFacts(segment, file)
  }
  expect([...found].sort()).toEqual(['h264 320x180', 'h264 640x360', 'hevc 320x180'])
})

function expectFacts(segment: SegmentStart, file: { width: number; height: number }): void {
  expect(segment).toMatchObject({ width: file.width, height: file.height })
}

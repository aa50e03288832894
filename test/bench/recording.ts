/**
 * Recording of many cameras: `npm run bench -- recording`. The cameras send a film, each at its own place, and are nobody's encoder; a few viewers watch some of them meanwhile.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FragmentTables } from '../../server/recordings/playback/fragment-table.ts'
import { SegmentFiles } from '../../server/recordings/playback/segment-sources.ts'
import type { Segment } from '../../shared/recordings/segment.ts'
import { startFilmCameras } from '../support/camera/film-camera.ts'
import { CountedViewer } from '../support/media/counted-viewer.ts'
import { builtMediaProgram } from '../support/built.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { recordedFilm } from '../support/recordings/recorded-film.ts'
import { processorMs, residentMegabytes } from './process-figures.ts'
import { report } from './table.ts'
import { withPath } from '../../shared/recordings/segment-path.ts'

const cameraCount = Number(process.env.ROOMDESK_RECORDED_CAMERAS ?? 200)
const perRoom = 20
const viewerCount = 4
const settleMs = 5_000
const windowMs = 20_000
/** Processor time of a recorded camera above that of one that is not, in milliseconds a second. */
const goalMs = 2.5
const goalBytes = 1.02
const framesPerSecond = { pictures: 25, sounds: 50 }

/** Cameras that share their machine with their own node answer late. */
const patient = { camera_answer_ms: 60_000, camera_stall_ms: 60_000 }

interface Load {
  /** Milliseconds of processor time a second. */
  processor: number
  maxGapMs: number
}

/** Measures recording into the table. */
export async function measureRecording(): Promise<void> {
  if (!existsSync(builtMediaProgram)) throw new Error('dist is missing: run "npm run build" first')
  const folder = await mkdtemp(join(process.env.ROOMDESK_RECORDED_FOLDER ?? tmpdir(), 'roomdesk-bench-'))
  await using cameras = await startFilmCameras(await recordedFilm({ width: 1_280, height: 720, rate: '2M' }))
  await using node = await TestMediaNode.start({
    program: builtMediaProgram,
    recordings: folder,
    settings: patient,
    ...nodeArguments(),
  })
  try {
    const rooms = Array.from({ length: Math.ceil(cameraCount / perRoom) }, (_, index) => `room-${index}`)
    for (const room of rooms) await node.openRoom(room, { maxVideo: perRoom, maxAudio: perRoom })
    const numbers = Array.from({ length: cameraCount }, (_, index) => index)
    const roomOf = (number: number): string => rooms[number % rooms.length] ?? ''
    for (const number of numbers) await node.addDevice(roomOf(number), `cam-${number}`, cameras.url(number), {}, 60_000)
    const viewers = await Promise.all(
      Array.from({ length: viewerCount }, async (_, index) => {
        const room = roomOf(index)
        return await CountedViewer.open(`${node.url}/whep/${room}/cam-${index}`, node.token(room, { role: 'observer' }))
      }),
    )
    await sleep(settleMs)
    const without = await load(node, viewers)
    const [orderedAt, receivedBefore] = [performance.now(), await received(node)]
    for (const room of rooms) {
      const recorded = numbers.filter((number) => roomOf(number) === room)
      const orders = recorded.map((number) => ({ userId: `cam-${number}`, quality: 'main' as const }))
      await node.request('set_recording', { roomId: room, everything: false, cameras: orders, people: [] })
    }
    await sleep(settleMs)
    const recorded = await load(node, viewers)
    const memory = await residentMegabytes(node.child.pid ?? 0)
    for (const roomId of rooms)
      await node.request('set_recording', { roomId, everything: false, cameras: [], people: [] })
    const [endedAt, receivedAfter] = [performance.now(), await received(node)]
    const segments = await completed(node)
    const broken = segments.filter(({ end }) => end !== 'stopped' && end !== 'clock' && end !== 'length')
    for (const { userId, end, bytes } of broken) console.error(`${userId} ended: ${end}, ${bytes} bytes`)
    for (const complaint of node.complaints) console.error(complaint)
    const lost = await missing(folder, segments)
    const each = (recorded.processor - without.processor) / cameraCount
    const what = `${cameraCount} cameras of 2 Mbit/s with sound, recorded`
    report(
      `${what}: cameras with every picture and sound`,
      `${cameraCount - lost} of ${cameraCount}`,
      'all',
      lost === 0,
    )
    report(`${what}: processor time of each`, `${each.toFixed(2)} ms/s`, `${goalMs} ms/s`, each <= goalMs)
    report(
      `${what}: processor time of the process`,
      `${recorded.processor.toFixed(0)} ms/s`,
      'under 900 ms/s',
      recorded.processor < 900,
    )
    report(
      `${what}: longest gap of ${viewerCount} viewers`,
      `${recorded.maxGapMs.toFixed(0)} ms (${without.maxGapMs.toFixed(0)} ms without)`,
      'at most 100 ms more',
      recorded.maxGapMs <= without.maxGapMs + 100,
    )
    const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
    const seconds = segments.reduce((sum, { startedAt, endedAt }) => sum + (endedAt - startedAt) / 1_000, 0)
    const allSeconds = (cameraCount * (endedAt - orderedAt)) / 1_000
    const share = bytes / ((receivedAfter - receivedBefore) * (seconds / allSeconds))
    report(`${what}: bytes written of those received`, share.toFixed(3), `at most ${goalBytes}`, share <= goalBytes)
    report(`${what}: memory`, `${memory.toFixed(0)} MB`, 'under 1,000 MB', memory < 1_000)
    for (const viewer of viewers) await viewer.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A profile of the processor, where one is wanted. */
function nodeArguments(): { execArgv?: string[] } {
  const path = process.env.ROOMDESK_RECORDED_PROFILE
  return path === undefined ? {} : { execArgv: ['--cpu-prof', `--cpu-prof-dir=${path}`, `--allow-fs-write=${path}`] }
}

async function load(node: TestMediaNode, viewers: readonly CountedViewer[]): Promise<Load> {
  const pid = node.child.pid ?? 0
  for (const { video } of viewers) video.forgetGaps()
  const [before, began] = [await processorMs(pid), performance.now()]
  await sleep(windowMs)
  const seconds = (performance.now() - began) / 1_000
  return {
    processor: ((await processorMs(pid)) - before) / seconds,
    maxGapMs: Math.max(...viewers.map(({ video }) => video.maxGap)),
  }
}

/** Bytes of media that it has received. */
async function received(node: TestMediaNode): Promise<number> {
  return (await node.request('health', {})).load.bytes_in
}

async function completed(node: TestMediaNode): Promise<Segment[]> {
  const until = performance.now() + 60_000
  for (;;) {
    const events = node.events.flatMap((event) => (event.type === 'recorder' ? [event.event] : []))
    const segments = events.flatMap((event) => (event.type === 'segmentEnded' ? [withPath(event.segment)] : []))
    const began = events.filter(({ type }) => type === 'segmentBegan').length
    if (segments.length === began) return segments
    if (performance.now() > until) throw new Error(`${began - segments.length} segments are not complete`)
    await sleep(100)
  }
}

/** Counts cameras of which pictures or sounds are missing between the beginning and the end of their segments. */
async function missing(folder: string, segments: readonly Segment[]): Promise<number> {
  const tables = new FragmentTables(new SegmentFiles(folder))
  const incomplete = new Set<string>()
  for (const segment of segments) {
    if (segment.bytes === 0) {
      incomplete.add(segment.userId)
      continue
    }
    const { fragments } = await tables.of(segment)
    const samples = fragments.reduce((sum, each) => sum + each.samples, 0)
    const seconds = (segment.endedAt - segment.startedAt) / 1_000
    const expected = seconds * (framesPerSecond.pictures + framesPerSecond.sounds)
    if (samples < expected - 3) incomplete.add(segment.userId)
  }
  return incomplete.size
}

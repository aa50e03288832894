/**
 * The embedded media node alone, as built: `node test/bench/media.ts`, also part of `npm run bench`. Cameras are GStreamer's, viewers are Chromium
 * (time to the first picture) and libdatachannel (load), each in a process of its own.
 */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { MediaPage, startBrowser } from '../support/media/browser.ts'
import { builtMediaProgram } from '../support/built.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { measureAudience } from './audience.ts'
import { Crowd } from './crowd.ts'
import { pulledCamera, viewedCamera } from './camera.ts'
import { report, type Row } from './table.ts'
import { processorRate, residentMegabytes } from './process-figures.ts'

const viewerCount = 50
const firstViewers = 10
const fillMs = 5_000
/** Time in which the heap of a node that has just started fills with garbage up to where it stays, in milliseconds. */
const heapMs = 20_000
const cameraCount = 50
const cycles = 200
const joins = 50
const maxFirstMs = 200
const windowSeconds = 10

const rows: Readonly<Record<string, () => Promise<Row[]>>> = {
  'first-picture': async () => await ofCamera(async (camera) => [await firstPicture(camera)]),
  viewers: async () => await ofCamera(viewers),
  'come-and-go': async () => await ofCamera(async (camera) => [await comeAndGo(camera)]),
  audience: measureAudience,
  cameras: async () => [await manyCameras()],
}

/** Measures into the table, one row after the other; all of it takes about three minutes. @param asked only these rows; empty: all */
export async function measureMedia(asked: readonly string[] = []): Promise<void> {
  if (!existsSync(builtMediaProgram)) throw new Error('dist is missing: run "npm run build" first')
  for (const [name, measure] of Object.entries(rows)) {
    if (asked.length > 0 && !asked.includes(name)) continue
    for (const row of await measure()) report(row.what, row.measured, row.goal, row.reached)
  }
}

async function ofCamera(measure: (camera: Camera) => Promise<Row[]>): Promise<Row[]> {
  await using camera = await startCamera(viewedCamera)
  return await measure(camera)
}

/** Measures from the offer to the first rendered picture, at any moment between two key frames. */
async function firstPicture(camera: Camera): Promise<Row> {
  await using node = await TestMediaNode.start({ program: builtMediaProgram })
  await node.openRoom('bench')
  await node.addDevice('bench', 'cam', camera.url('/cam'))
  const browser = await startBrowser()
  try {
    const page = await MediaPage.open(browser, node.url)
    const token = node.token('bench', { role: 'observer' })
    const times: number[] = []
    for (let i = 0; i < joins; i++) {
      await sleep((i * 37) % 200)
      await page.call('watch', 'cam', `${node.url}/whep/bench/cam`, token, {})
      times.push((await page.until('cam', ({ firstFrameMs }) => firstFrameMs > 0)).firstFrameMs)
      await page.call('close', 'cam', true)
    }
    times.sort((a, b) => a - b)
    const median = times[Math.floor(times.length / 2)] ?? 0
    const longest = times.at(-1) ?? 0
    return {
      what: `WHEP offer to first picture, ${joins} late joiners, 720p`,
      measured: `median ${Math.round(median)} ms, longest ${Math.round(longest)} ms`,
      goal: `longest under ${maxFirstMs} ms`,
      reached: longest < maxFirstMs,
    }
  } finally {
    await browser.close()
  }
}

/** Measures processor time and memory per viewer, with many viewers of one camera. */
async function viewers(camera: Camera): Promise<Row[]> {
  await using node = await TestMediaNode.start({ program: builtMediaProgram })
  const pid = node.child.pid ?? 0
  await node.openRoom('bench')
  await node.addDevice('bench', 'cam', camera.url('/cam'))
  await sleep(1_000)
  const alone = await processorRate(pid, windowSeconds)
  const token = node.token('bench', { role: 'observer', lifeMs: 600_000 })
  using crowd = new Crowd(`${node.url}/whep/bench/cam`, token)
  // The first viewers fill shared state; each one fills its own within some seconds.
  await crowd.ask({ open: firstViewers })
  await sleep(heapMs)
  const withFirst = await residentMegabytes(pid)
  await crowd.ask({ open: viewerCount - firstViewers })
  await sleep(fillMs)
  const kept = (await residentMegabytes(pid)) - withFirst
  const own: Row = {
    what: `memory of the node for each of ${viewerCount} viewers of one 2 Mbit/s camera`,
    measured: `${(kept / (viewerCount - firstViewers)).toFixed(2)} MB`,
    goal: 'at most 0.3 MB',
    reached: kept / (viewerCount - firstViewers) <= 0.3,
  }
  const before = await crowd.ask({})
  const crowded = await processorRate(pid, windowSeconds)
  const after = await crowd.ask({})
  const each = (crowded - alone) / viewerCount
  const packets = Math.round((after.packets - before.packets) / viewerCount / windowSeconds)
  const load: Row = {
    what: `CPU of the node for each of ${viewerCount} viewers of one 2 Mbit/s camera`,
    measured: `${each.toFixed(2)} ms/s at ${packets} packets/s each (alone ${alone.toFixed(1)} ms/s)`,
    goal: 'at most 3.5 ms/s',
    reached: each <= 3.5,
  }
  return [load, own]
}

/** Measures memory over many viewers that join and leave. The small heap leaves no room for uncollected garbage, which would hide leaks. */
async function comeAndGo(camera: Camera): Promise<Row> {
  const execArgv = ['--max-semi-space-size=1', '--max-old-space-size=40']
  await using node = await TestMediaNode.start({ program: builtMediaProgram, execArgv })
  const pid = node.child.pid ?? 0
  await node.openRoom('bench')
  await node.addDevice('bench', 'cam', camera.url('/cam'))
  const token = node.token('bench', { role: 'observer', lifeMs: 600_000 })
  using crowd = new Crowd(`${node.url}/whep/bench/cam`, token, 'whole')
  // The first ones fill pools and the heap, and warm the compiler.
  await crowd.ask({ cycles: 900 })
  const filled = await residentMegabytes(pid)
  await crowd.ask({ cycles })
  const grown = (await residentMegabytes(pid)) - filled
  return {
    what: `memory of the node over ${cycles} viewers that join and leave`,
    measured: `${filled.toFixed(0)} MB, ${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MB`,
    goal: 'at most +8 MB',
    reached: grown <= 8,
  }
}

/** Measures many cameras in rooms of their own; one process serves them, encoded once. */
async function manyCameras(): Promise<Row> {
  await using camera = await startCamera(pulledCamera)
  await using node = await TestMediaNode.start({ program: builtMediaProgram })
  const pid = node.child.pid ?? 0
  const [empty, began] = [await residentMegabytes(pid), performance.now()]
  for (let i = 1; i <= cameraCount; i++) {
    await node.openRoom(`room-${i}`)
    // Each loopback address is a separate camera to the node.
    await node.addDevice(`room-${i}`, 'cam', `rtsp://127.0.0.${i}:${camera.port}/cam`)
  }
  const joined = (performance.now() - began) / cameraCount
  // The node compiles what it runs often within some seconds.
  await sleep(fillMs)
  const bytes = async (): Promise<number[]> =>
    (await node.request('stats', {})).streams.map(({ video_bytes }) => video_bytes)
  const before = await bytes()
  const rate = await processorRate(pid, windowSeconds)
  const rates = (await bytes()).map((count, index) => ((count - (before[index] ?? 0)) * 8) / windowSeconds / 1e6)
  const { pulls } = await node.request('health', {})
  const slowest = Math.min(...rates)
  const each = ((await residentMegabytes(pid)) - empty) / cameraCount
  return {
    what: `${cameraCount} cameras of 1 Mbit/s pulled into rooms`,
    measured: `${pulls} flow, slowest ${slowest.toFixed(2)} Mbit/s, ${(rate / cameraCount).toFixed(2)} ms/s CPU and ${each.toFixed(2)} MB for each, ${joined.toFixed(0)} ms to join each`,
    goal: 'all flow, slowest at least 0.8 Mbit/s',
    reached: pulls === cameraCount && rates.length === cameraCount && slowest >= 0.8,
  }
}

if (import.meta.main) await measureMedia(process.argv.slice(2))

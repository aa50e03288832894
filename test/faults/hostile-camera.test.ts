import { fork } from 'node:child_process'
import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { mediaMethods } from '../../shared/media/control.ts'
import { descriptors, residentMegabytes } from '../bench/process-figures.ts'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { fuzzCameras, mutated } from '../support/camera/fuzzed-camera.ts'
import { seededRandom } from '../../shared/seeded-random.ts'
import { hostileAnswers } from '../support/camera/hostile-answers.ts'
import { type Caller, HostileCamera, interleaved, rtpPacket } from '../support/camera/hostile-camera.ts'
import { type HostileCase, reportMs } from '../support/camera/hostile-case.ts'
import { hostileMedia, oddPackets } from '../support/camera/hostile-media.ts'
import { hostilePhases } from '../support/camera/hostile-phases.ts'
import { hostileTransports } from '../support/camera/hostile-transports.ts'
import { NodeFailure, TestMediaNode } from '../support/media/media-node.ts'

// Many at a time: most of the time passes in deadlines.
vi.setConfig({ maxConcurrency: 24, testTimeout: 20_000 })

/** Deadlines of the hostile cameras; the good one has the defaults. */
const deadlines = { camera_answer_ms: 1_000, camera_stall_ms: 1_200 }
/** Polling of conditions that hold within a moment, also on a busy machine. */
const patience = { timeout: 5_000, interval: 30 }
const viewerProgram = join(import.meta.dirname, '../bench/whep-viewers.ts')
/** Maximum growth of the node, in megabytes. */
const maxGrowth = 200

let good: Camera
let node: TestMediaNode
let pid: number
let before: { memory: number; descriptors: number }

beforeAll(async () => {
  ;[good, node] = await Promise.all([startCamera(), TestMediaNode.start()])
  pid = node.child.pid ?? 0
  await node.openRoom('meeting')
  await node.addDevice('meeting', 'good', good.url('/cam'))
  await node.request('set_settings', mediaMethods.set_settings.params.parse(deadlines))
  before = { memory: await residentMegabytes(pid), descriptors: await descriptors(pid) }
})

afterAll(async () => {
  await Promise.all([good.kill(), node.stop()])
})

/** Adds the camera to a room of its own and returns the outcome. */
async function outcomeOf(roomId: string, camera: HostileCamera, expected: string): Promise<string> {
  await node.openRoom(roomId)
  try {
    await node.addDevice(roomId, 'cam', camera.url, { login: { name: 'admin', password: 'secret' } })
  } catch (error) {
    if (!(error instanceof NodeFailure)) throw error
    return `refused: ${error.kind}`
  }
  camera.noteJoined()
  if (expected === 'stays') {
    // The camera's other actions are done by then, and the stream still flows.
    const { video_bytes = 0 } = (await node.stream(roomId, 'cam')) ?? {}
    const flows = async () => ((await node.stream(roomId, 'cam'))?.video_bytes ?? 0) > video_bytes + 200
    await vi.waitFor(async () => expect(await flows()).toBe(true), patience)
    const lost = node.events.find((event) => event.type === 'deviceLost' && event.roomId === roomId)
    if (lost === undefined) return 'stays'
  }
  const event = await node.event((each) => each.type === 'deviceLost' && each.roomId === roomId, 10_000)
  return event.type === 'deviceLost' ? `lost: ${event.kind}` : event.type
}

async function expectGoodMeeting(): Promise<void> {
  expect(node.child.exitCode).toBeNull()
  expect(node.child.pid).toBe(pid)
  const received = async () => (await node.stream('meeting', 'good'))?.video_bytes ?? 0
  const now = await received()
  await vi.waitFor(async () => expect(await received()).toBeGreaterThan(now), patience)
  expect(
    node.events.filter((event) => 'roomId' in event && event.roomId === 'meeting' && event.type !== 'joined'),
  ).toEqual([])
}

/** Expects that nothing remains: the node has hung up, and never called twice. */
async function expectGone(camera: HostileCamera, roomId: string): Promise<void> {
  await node.request('close_room', { roomId })
  await vi.waitFor(() => expect(camera.callers.size).toBe(0), patience)
  expect(camera.calls).toHaveLength(1)
  await camera[Symbol.asyncDispose]()
}

/** Cameras that run on after their test. */
const lasting: { camera: HostileCamera; title: string; at: number }[] = []

/** Lasting cases start first. */
const both = [...hostileTransports, ...hostileAnswers, ...hostilePhases, ...hostileMedia].flatMap((each: HostileCase) =>
  (['tcp', 'udp'] as const)
    .filter((transport) => (each.over ?? transport) === transport)
    .map((transport) => ({ ...each, transport, title: `${each.what}, over ${transport.toUpperCase()}` })),
)

describe('a camera that', () => {
  test.concurrent.for(both)('$title', async ({ title, script, transport, description, outcome, lasts }) => {
    const camera = await HostileCamera.start(script, transport)
    camera.description = description ?? camera.description
    expect(await outcomeOf(title, camera, outcome)).toBe(outcome)
    if (lasts) lasting.push({ camera, title, at: performance.now() })
    else await expectGone(camera, title)
    await expectGoodMeeting()
  })

  test('continues past the first reports does no harm', async () => {
    const last = Math.max(...lasting.map(({ at }) => at))
    await sleep(Math.max(0, last + reportMs + 200 - performance.now()))
    await expectGoodMeeting()
    for (const { camera, title } of lasting) {
      expect(await node.userIds(title)).toEqual(['cam'])
      await expectGone(camera, title)
    }
  })
})

describe('a camera that floods', () => {
  /** Measures maximum memory and the longest silence of the good camera while the hostile one is pulled. */
  async function watched(run: Promise<string>): Promise<{ outcome: string; megabytes: number; silence: number }> {
    let [over, megabytes, silence, received, at] = [false, 0, 0, 0, performance.now()]
    const outcome = run.finally(() => (over = true))
    while (!over) {
      megabytes = Math.max(megabytes, await residentMegabytes(pid))
      const { video_bytes = 0 } = (await node.stream('meeting', 'good')) ?? {}
      const now = performance.now()
      silence = Math.max(silence, now - at)
      if (video_bytes > received) [received, at] = [video_bytes, now]
    }
    return { outcome: await outcome, megabytes, silence }
  }

  const request = 'OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n'
  const media = interleaved(0, rtpPacket(1, Buffer.alloc(1_200, 0x65)))
  test.each([
    ['requests, and reads no answer', false, Buffer.concat([Buffer.from(request.repeat(500)), media])],
    ['requests, and reads the answers', true, Buffer.concat([Buffer.from(request.repeat(500)), media])],
    ['media', true, Buffer.concat(Array.from({ length: 800 }, () => media))],
  ])('%s is left, and neither memory nor the others suffer', async (what, reads, piece) => {
    await using camera = await HostileCamera.start({
      PLAY: (caller, playing) => {
        if (!reads) caller.socket.pause()
        caller.usual(playing)
        caller.flood(piece)
      },
    })
    const memory = await residentMegabytes(pid)
    const { outcome, megabytes, silence } = await watched(outcomeOf(`floods ${what}`, camera, 'lost: protocol'))
    expect(outcome).toMatch(/^(?:lost|refused): protocol$/)
    expect(megabytes - memory).toBeLessThan(maxGrowth)
    expect(silence).toBeLessThan(2_000)
    await expectGoodMeeting()
  })
})

test('whatever addresses a camera names for stream and packets, the node connects to no other host', async () => {
  const called: string[] = []
  const server = net.createServer((socket) => {
    called.push('TCP')
    socket.destroy()
  })
  server.listen(0, '127.0.0.9')
  const datagrams = dgram.createSocket('udp4').on('message', () => called.push('UDP'))
  datagrams.bind(0, '127.0.0.9')
  await Promise.all([once(server, 'listening'), once(datagrams, 'listening')])
  const foreignAddress = server.address()
  if (foreignAddress === null || typeof foreignAddress === 'string') throw new Error('no port')
  const url = `rtsp://127.0.0.9:${foreignAddress.port}/live`
  const { port } = datagrams.address()
  await using redirecting = await HostileCamera.start({
    DESCRIBE: (caller, request) => caller.answer(request, { status: 302, headers: { Location: url } }),
  })
  await using foreign = await HostileCamera.start(
    {
      DESCRIBE: (caller, request) => caller.answer(request, { headers: { 'Content-Base': url } }),
      SETUP: (caller, request) =>
        caller.setUp(request, {
          headers: { Transport: `RTP/AVP;source=127.0.0.9;destination=127.0.0.9;server_port=${port}-${port}` },
        }),
    },
    'udp',
  )
  foreign.description = foreign.description.replace('track1', `${url}/track1`)
  expect(await outcomeOf('redirects', redirecting, 'refused: redirected')).toBe('refused: redirected')
  expect(await outcomeOf('foreign', foreign, 'stays')).toBe('stays')
  // All requests came over the one connection.
  expect(foreign.calls[0]?.requests.map((each) => each.url)).toContain(`${url}/track1`)
  await node.request('close_room', { roomId: 'foreign' })
  await vi.waitFor(() => expect(foreign.callers.size).toBe(0), patience)
  expect(called).toEqual([])
  server.close()
  datagrams.close()
})

// https://github.com/Streamedian/html5_rtsp_player/issues/73
test('a server without GET_PARAMETER that accepts no other keep-alive is lost once', async () => {
  const methods = 'DESCRIBE, OPTIONS, PAUSE, PLAY, SETUP, TEARDOWN, ANNOUNCE, RECORD'
  const keptAlive = (caller: Caller): number =>
    caller.requests.filter(({ method }) => method === 'GET_PARAMETER').length
  await using camera = await HostileCamera.start({
    OPTIONS: (caller, request) => caller.answer(request, { headers: { Public: methods } }),
    SETUP: (caller, request) => caller.setUp(request, { headers: { Session: '5;timeout=2' } }),
    PLAY: (caller, request) => {
      caller.usual(request)
      let kept = 0
      let left = 30
      caller.every(100, () => {
        left = keptAlive(caller) > kept ? 30 : left - 1
        kept = keptAlive(caller)
        if (left === 0) caller.socket.destroy()
      })
    },
  })
  await node.openRoom('timeout')
  await node.addDevice('timeout', 'cam', camera.url)
  expect(await node.event((each) => each.type === 'deviceLost' && each.roomId === 'timeout')).toMatchObject({
    kind: 'closed',
  })
  await node.addDevice('timeout', 'cam', camera.url)
  const [first, second] = camera.calls
  expect(first?.requests.map(({ method }) => method)).not.toContain('GET_PARAMETER')
  await vi.waitFor(() => expect(second === undefined ? 0 : keptAlive(second)).toBe(5), { timeout: 12_000 })
  expect(await node.userIds('timeout')).toEqual(['cam'])
  await node.request('close_room', { roomId: 'timeout' })
})

test('150 cameras with random changes in a valid conversation are refused or accepted, without unexpected errors', async () => {
  const hasty = { camera_answer_ms: 250, camera_stall_ms: 250 }
  await node.request('set_settings', mediaMethods.set_settings.params.parse(hasty))
  const { joined, failures } = await fuzzCameras(node, { seed: 20_260_101, count: 150, atOnce: 24 })
  expect(joined).toBeGreaterThan(0)
  expect(failures.get('nodeFailed') ?? failures.get(null)).toBeUndefined()
  await expectGoodMeeting()
})

test('after all of them the node is unchanged', async () => {
  await expectGoodMeeting()
  expect((await node.request('health', {})).pulls).toBe(1)
  await vi.waitFor(async () => expect(await descriptors(pid)).toBeLessThanOrEqual(before.descriptors), patience)
  expect((await residentMegabytes(pid)) - before.memory).toBeLessThan(maxGrowth)
  expect(node.complaints).toEqual([])
})

test('viewers continue to receive pictures of a camera that sends invalid packets', {
  timeout: 45_000,
}, async () => {
  await using camera = await HostileCamera.start({})
  await node.openRoom('watched')
  await node.addDevice('watched', 'cam', camera.url)
  const token = node.token('watched', { role: 'observer' })
  const viewers = fork(viewerProgram, [`${node.url}/whep/watched/cam`, token], { stdio: 'inherit' })
  const ask = async (message: { open?: number }): Promise<number> => {
    viewers.send(message)
    const [{ packets }] = (await once(viewers, 'message')) as [{ packets: number }]
    return packets
  }
  try {
    await ask({ open: 2 })
    const random = seededRandom(7)
    for (const [, bytes] of oddPackets) for (const caller of camera.callers) caller.rtp(bytes)
    for (let i = 0; i < 500; i++) for (const caller of camera.callers) caller.rtp(mutated(rtpPacket(i), random))
    const got = await ask({})
    await vi.waitFor(async () => expect(await ask({})).toBeGreaterThan(got + 40), patience)
    expect(await node.userIds('watched')).toEqual(['cam'])
    await expectGoodMeeting()
  } finally {
    viewers.kill()
    await node.request('close_room', { roomId: 'watched' })
  }
})

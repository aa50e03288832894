/**
 * Capacity in viewers of one embedded node, and of two of the same site: `npm run bench -- nodes`. The controller is the built one; the camera is GStreamer's, the
 * viewers are libdatachannel's, those of each room in a process of their own.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { portHolder } from '../../server/edge/listen-error.ts'
import { startCamera } from '../support/camera/camera.ts'
import { type Headless, removeFolder, startHeadless } from '../support/headless.ts'
import { CpuLimit } from './cpu-limit.ts'
import { processorMs } from './process-figures.ts'
import { report } from './table.ts'
import type { ViewersRequest, ViewersSeen } from './whep-viewers.ts'

/** Share of a core for each node: two nodes with camera and viewers fit on two cores. */
const share = 0.25
/** Viewers of the first measurement, which gives the cost and packets of a viewer; later this many join each node between two measurements. */
const firstViewers = 20
const step = 8
/** Share of the estimated capacity to add at once, the rest in steps: few viewers cost more each than many. */
const atOnce = 1.2
const framesPerSecond = 25
/** A node that uses this part of its share is at its limit. */
const fullLimit = 0.95
const maxViewers = 500
const maxLooks = 3
const settleMs = 3_000
/** Maximum time until the node has noticed the end of its viewers' process, in milliseconds. */
const goneMs = 60_000
/** Four groups of pictures: each sends the same. */
const windowMs = 8_000
/** Share of the packets per viewer at low load that counts as complete. */
const whole = 0.98

/** A node with a room of its own that contains the camera. */
interface CameraNode {
  site: Headless
  room: string
  stream: string
  /** WHEP address. */
  url: string
  pid: number
}

/** Load of several nodes together. */
interface Load {
  viewers: number
  /** Packets to each viewer. */
  packetsPerSecond: number
  /** Share of packets lost. */
  lost: number
  /** Pictures per second that the nodes received from the camera. */
  frames: number
  /** Processor time of the nodes. */
  cores: number
}

/** Measures the viewers that one node and two nodes serve without loss. */
export async function measureNodes(): Promise<void> {
  await using camera = await startCamera({
    width: 640,
    height: 360,
    fps: framesPerSecond,
    kbps: 1_000,
    gop: 50,
    pattern: 'snow',
  })
  const site = await startHeadless({ site: { nodes: [{ name: 'one', kind: 'embedded' }] } })
  const limits: (CpuLimit | undefined)[] = []
  try {
    await site.rpc('nodes.add_embedded', { count: 1 })
    while ((await site.rpc('nodes.list', {})).some(({ state }) => state !== 'online')) await sleep(100)
    const one = await nodeWithRoom(site, camera.url('/cam'), 1)
    const two = await nodeWithRoom(site, camera.url('/cam'), 2)
    if (one.pid === two.pid) throw new Error('both rooms are on one node')
    for (const { pid } of [one, two]) limits.push(await CpuLimit.hold(pid, share))
    const how = limits.includes(undefined)
      ? `no control groups here: the nodes share the ${cpus().length} cores of this machine with camera and viewers`
      : `each node held to ${share} of a core by its control group; ${cpus().length} cores for all`
    const alone = await maxLoad([one])
    report(`viewers of a 1 Mbit/s camera that one embedded node carries (${how})`, said(alone), 'none', true)
    const together = await maxLoad([one, two])
    const ratio = together.viewers / alone.viewers
    const measured = `${ratio.toFixed(2)} times as many: ${said(together)}`
    report('viewers that two embedded nodes serve', measured, 'at least 1.8 times those of one', ratio >= 1.8)
  } finally {
    await site.stop()
    await Promise.all(limits.map(async (limit) => await limit?.[Symbol.asyncDispose]()))
    await removeFolder(site.folder)
  }
}

/** Opens a room with the camera on a node without one: the least loaded one gets it. */
async function nodeWithRoom(site: Headless, userAddress: string, number: number): Promise<CameraNode> {
  const { room_id: room } = await site.rpc('rooms.create', { topic: `Hall ${number}` })
  const stream = `camera-${number}`
  await site.rpc('devices.create', { roomId: room, userId: stream, userName: stream, userAddress, join: 'required' })
  const { url } = await site.rpc('media.preview_device', { userId: stream })
  const pid = portHolder('127.0.0.1', Number(new URL(url).port))?.pid
  if (pid === undefined) throw new Error(`nobody listens at ${url}`)
  return { site, room, stream, url, pid }
}

function said({ viewers, packetsPerSecond, lost, frames, cores }: Load): string {
  const used = `${cores.toFixed(2)} cores, ${((cores * 1_000) / viewers).toFixed(2)} ms/s for each`
  return `${viewers} viewers at ${frames.toFixed(1)} pictures and ${packetsPerSecond.toFixed(0)} packets a second, ${(lost * 100).toFixed(1)}% lost, ${used}`
}

/** Adds viewers, as many to each, until packets are missing. Resolves to the last complete load; the viewers then leave. */
async function maxLoad(nodes: readonly CameraNode[]): Promise<Load> {
  const crowds = nodes.map((node) => new Crowd(node))
  try {
    const come = (more: number): Promise<unknown> => Promise.all(crowds.map((crowd) => crowd.open(more)))
    await come(firstViewers)
    const few = await look(crowds)
    const possible = (share * few.viewers) / few.cores
    await come(Math.max(step, Math.floor(possible * atOnce) - firstViewers))
    let best = few
    for (;;) {
      const load = await lookUntilWhole(crowds, few)
      if (load === undefined) return best
      best = load
      if (load.viewers >= maxViewers) return best
      try {
        await come(step)
      } catch (error) {
        // A node at its limit refuses them, or is too late: it served the previous ones.
        console.error(`    no more come: ${String(error)}`)
        return best
      }
    }
  } finally {
    await Promise.all(crowds.map((crowd) => crowd.end()))
  }
}

/** Measures again while incomplete, because new viewers cost more than settled ones. Resolves to undefined if it stays incomplete. */
async function lookUntilWhole(crowds: readonly Crowd[], few: Load): Promise<Load | undefined> {
  for (let looks = 1; looks <= maxLooks; looks++) {
    const load = await look(crowds)
    const complete = isWhole(load, few, crowds.length)
    console.error(`    ${said(load)}${complete ? '' : ': too many'}`)
    if (complete) return load
  }
  return undefined
}

/**
 * Tells whether all packets of the camera reach everybody. A camera without enough processor time sends less; nodes at their limit receive less of it: the processor use of the
 * nodes distinguishes the two.
 */
function isWhole(load: Load, few: Load, nodes: number): boolean {
  const atLimit = load.cores >= share * nodes * fullLimit
  if (load.frames < framesPerSecond * whole && atLimit) return false
  const passedOn = load.packetsPerSecond / load.frames / (few.packetsPerSecond / few.frames)
  return passedOn >= whole && load.lost <= 1 - whole
}

/** Measures arrivals and their cost over a while. */
async function look(crowds: readonly Crowd[]): Promise<Load> {
  await sleep(settleMs)
  const [before, workBefore, began] = [await seenBy(crowds), await workOf(crowds), performance.now()]
  await sleep(windowMs)
  const [after, workAfter, milliseconds] = [await seenBy(crowds), await workOf(crowds), performance.now() - began]
  const { viewers } = after
  return {
    viewers,
    packetsPerSecond: (after.packets - before.packets) / viewers / (milliseconds / 1_000),
    frames: (after.frames - before.frames) / crowds.length / (milliseconds / 1_000),
    lost: 1 - (after.received - before.received) / Math.max(1, after.sent - before.sent),
    cores: (workAfter - workBefore) / milliseconds,
  }
}

/** Sums up the packets of all viewers so far. */
async function seenBy(crowds: readonly Crowd[]) {
  const [seen, frames] = await Promise.all([
    Promise.all(crowds.map((crowd) => crowd.seen())),
    Promise.all(crowds.map((crowd) => crowd.frames())),
  ])
  const video = seen.flatMap((each) => each.video)
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
  return {
    viewers: video.length,
    frames: sum(frames),
    packets: sum(seen.map(({ packets }) => packets)),
    received: sum(video.map(({ received }) => received)),
    sent: sum(video.map(({ sent }) => sent)),
  }
}

/** Processor time that the nodes have used, in milliseconds. */
async function workOf(crowds: readonly Crowd[]): Promise<number> {
  const used = await Promise.all(crowds.map((crowd) => processorMs(crowd.node.pid)))
  return used.reduce((sum, each) => sum + each, 0)
}

/** The viewers of one room, in a process of their own. */
class Crowd {
  readonly node: CameraNode
  readonly #process: ChildProcess
  readonly #ended: Promise<never>

  constructor(node: CameraNode) {
    this.node = node
    this.#process = fork(join(import.meta.dirname, 'whep-viewers.ts'), [node.url], { stdio: 'inherit' })
    this.#ended = once(this.#process, 'exit').then(() => {
      throw new Error('the viewers ended')
    })
    // Only a race awaits it.
    this.#ended.catch(() => {})
  }

  /** @throws Error if some cannot connect */
  async open(more: number): Promise<void> {
    const { site, room, stream } = this.node
    // Uses each token for a few viewers: it is valid for a minute.
    for (let left = more; left > 0; left -= step) {
      const { token } = await site.rpc('media.preview_stream', { room_id: room, stream_id: stream })
      const [failure] = (await this.#ask({ open: Math.min(step, left), atOnce: 4, token })).failures
      if (failure !== undefined) throw new Error(failure)
    }
  }

  async seen(): Promise<ViewersSeen> {
    return await this.#ask({})
  }

  /** Pictures that the node has received from the camera. */
  async frames(): Promise<number> {
    const { site, room } = this.node
    const { streams } = await site.rpc('media.stats', { room_id: room })
    return streams.reduce((sum, { frames }) => sum + frames, 0)
  }

  /** Ends all viewers; resolves when the node has noticed. */
  async end(): Promise<void> {
    this.#process.kill()
    const { site, room } = this.node
    // An overloaded node has to catch up first.
    const watched = async (): Promise<number> => {
      const stats = await site.result('media.stats', { room_id: room })
      return stats.ok ? stats.value.streams.reduce((sum, { viewers }) => sum + viewers, 0) : 1
    }
    const end = performance.now() + goneMs
    while ((await watched()) > 0) {
      if (performance.now() > end) throw new Error('the node still has viewers that have gone')
      await sleep(500)
    }
  }

  async #ask(request: ViewersRequest): Promise<ViewersSeen> {
    this.#process.send(request)
    const [answer] = (await Promise.race([once(this.#process, 'message'), this.#ended])) as [ViewersSeen]
    return answer
  }
}

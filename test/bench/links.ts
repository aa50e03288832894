/**
 * People on links that are too small, lossy or slow: `node test/bench/links.ts`, also part of `npm run bench`. Cameras are GStreamer's, viewers are Chromium;
 * what counts is the frames that it decodes.
 */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { MediaPage, type PeerStats, startBrowser } from '../support/media/browser.ts'
import type { LinkConditions, LinkCounts } from '../support/media/link.ts'
import { type LossyProxy, startLossyProxy } from '../support/media/lossy-proxy.ts'
import { builtProgram, TestMediaNode } from '../support/media/media-node.ts'
import { report } from './table.ts'
import { measureUplink } from './uplink.ts'
import { measureLayered } from './layered.ts'

const fps = 25
/** Of the link that is too small, in both directions' own queue of 300 ms. */
const smallKbps = 600
const cleanMs = 8_000
const smallMs = 15_000
/** From when on a viewer has to be served well on the smaller link. */
const settledMs = 3_000
/** How long a viewer is given to be back at full size. */
const backMs = 20_000
const conditionMs = 15_000

/** The proxies' addresses: a link that changes, and one that is always good. */
const [changing, good] = ['127.0.0.2', '127.0.0.3'] as const

interface Site {
  node: TestMediaNode
  browser: Browser
  /** Behind the address of the same name. */
  links: Record<typeof changing | typeof good, LossyProxy>
}

/** Readings of a moment. */
interface Reading {
  stats: PeerStats
  /** Whole pictures that the camera sent of its large stream. */
  frames: number
  counts: LinkCounts
  at: number
}

/** Measures everything, one after the other, into the table; about seven minutes. */
export async function measureLinks(): Promise<void> {
  if (!existsSync(builtProgram)) throw new Error('dist is missing: run "npm run build" first')
  await using large = await startCamera({ fps, kbps: 2_000, gop: 50, pattern: 'snow' })
  await using small = await startCamera({ width: 320, height: 180, fps, kbps: 400, gop: 50, pattern: 'snow' })
  await using node = await TestMediaNode.start({ program: builtProgram, settings: { advertised: [changing, good] } })
  await using first = await startLossyProxy(node.udpPort, 0, changing)
  await using second = await startLossyProxy(node.udpPort, 0, good)
  const browser = await startBrowser()
  const site: Site = { node, browser, links: { [changing]: first, [good]: second } }
  try {
    await secondStream(site, large, small)
    await keyFramesOnly(site, large)
    for (const each of otherLinks) await otherLink(site, large, each)
    await measureUplink({ node, browser, changing: first, good: second })
    await measureLayered({ node, browser, changing: first, good: second })
  } finally {
    await browser.close()
  }
}

async function secondStream(site: Site, large: Camera, small: Camera): Promise<void> {
  await site.node.openRoom('second')
  await site.node.addDevice('second', 'cam', large.url('/cam'), { assistAddress: small.url('/video') })
  const name = 'camera 2 Mbit/s with a second stream of 400 kbit/s, behind 600 kbit/s'
  const [page, beside] = [await watch(site, 'second', changing), await watch(site, 'second', good)]
  await sleep(cleanMs)
  const besideBefore = await read(site, beside, 'second', good)
  const { toClient } = site.links[changing]
  Object.assign(toClient, { kbps: smallKbps, queueMs: 300 })
  const [shrunk, settled, end] = await readings(site, page, 'second')
  toClient.kbps = Infinity
  const rate = perSecond(settled, end)
  report(`${name}: frames from 3 s on`, `${rate.toFixed(1)} a second`, 'at least 20', rate >= 20)
  reportSound(name, shrunk, end)
  reportOffered(name, shrunk, end)
  await reportBack(name, page)
  const besideAfter = await read(site, beside, 'second', good)
  const shown = (besideAfter.stats.video?.framesDecoded ?? 0) - (besideBefore.stats.video?.framesDecoded ?? 0)
  const share = shown / (besideAfter.frames - besideBefore.frames)
  report(
    `${name}: a good viewer beside it`,
    `${(share * 100).toFixed(1)}% of the frames`,
    'at least 99%',
    share >= 0.99,
  )
  await close(site, 'second', page, beside)
}

async function keyFramesOnly(site: Site, large: Camera): Promise<void> {
  await site.node.openRoom('alone')
  await site.node.addDevice('alone', 'cam', large.url('/cam'))
  const name = 'camera 2 Mbit/s with nothing smaller, behind 600 kbit/s'
  const page = await watch(site, 'alone', changing)
  await sleep(cleanMs)
  const { toClient } = site.links[changing]
  Object.assign(toClient, { kbps: smallKbps, queueMs: 300 })
  const [shrunk, settled, end] = await readings(site, page, 'alone')
  toClient.kbps = Infinity
  const rate = perSecond(settled, end)
  report(`${name}: key frames from 3 s on`, `${rate.toFixed(2)} a second`, 'at least 0.4 of 0.5', rate >= 0.4)
  reportSound(name, shrunk, end)
  reportOffered(name, shrunk, end)
  const before = await read(site, page, 'alone', changing)
  await reportBack(name, page, before)
  await close(site, 'alone', page)
}

/** A link that is bad, not small. */
interface OtherLink {
  room: string
  name: string
  /** Share of the frames that is shown. */
  goal: number
  conditions: Partial<LinkConditions>
}

/** The share of the frames that is shown over links that are bad, not small. */
const otherLinks: OtherLink[] = [
  { room: 'loss2', name: 'loss 2%', goal: 0.98, conditions: { loss: 0.02 } },
  { room: 'loss10', name: 'loss 10%', goal: 0.94, conditions: { loss: 0.1 } },
  { room: 'slow', name: 'round trip 200 ms', goal: 0.98, conditions: { delayMs: 100 } },
  { room: 'both', name: 'round trip 200 ms and loss 5%', goal: 0.9, conditions: { delayMs: 100, loss: 0.05 } },
  { room: 'jitter', name: 'jitter 40 ms', goal: 0.98, conditions: { delayMs: 20, jitterMs: 40 } },
]

async function otherLink(site: Site, large: Camera, { room, name, goal, conditions }: OtherLink): Promise<void> {
  await site.node.openRoom(room)
  await site.node.addDevice(room, 'cam', large.url('/cam'))
  const { toClient, toTarget } = site.links[changing]
  const before = { loss: toClient.loss, delayMs: toClient.delayMs, jitterMs: toClient.jitterMs }
  const page = await watch(site, room, changing)
  for (const link of [toClient, toTarget]) Object.assign(link, conditions)
  await sleep(1_000)
  const began = await read(site, page, room, changing)
  await sleep(conditionMs)
  const ended = await read(site, page, room, changing)
  for (const link of [toClient, toTarget]) Object.assign(link, before)
  const shown = (ended.stats.video?.framesDecoded ?? 0) - (began.stats.video?.framesDecoded ?? 0)
  const sent = ended.frames - began.frames
  report(
    `camera 2 Mbit/s, ${name}`,
    `${shown} of ${sent} frames`,
    `at least ${Math.round(goal * 100)}%`,
    shown >= goal * sent,
  )
  await close(site, room, page)
}

async function watch({ node, browser }: Site, room: string, through: string): Promise<MediaPage> {
  const page = await MediaPage.open(browser, node.url)
  const token = node.token(room, { role: 'observer', lifeMs: 600_000 })
  await page.call('watch', 'cam', `${node.url}/whep/${room}/cam`, token, { addresses: 'never', through })
  await page.decodes('cam', 5)
  return page
}

/** When the link has become small, when everything should have settled, and at the end. */
async function readings(site: Site, page: MediaPage, room: string): Promise<[Reading, Reading, Reading]> {
  const shrunk = await read(site, page, room, changing)
  await sleep(settledMs)
  const settled = await read(site, page, room, changing)
  await sleep(smallMs - settledMs)
  return [shrunk, settled, await read(site, page, room, changing)]
}

async function read(
  { node, links }: Site,
  page: MediaPage,
  room: string,
  through: keyof Site['links'],
): Promise<Reading> {
  const [stats, stream] = await Promise.all([page.call('stats', 'cam'), node.stream(room, 'cam')])
  return { stats, frames: stream?.frames ?? 0, counts: { ...links[through].toClient.counts }, at: performance.now() }
}

function perSecond(from: Reading, to: Reading): number {
  const frames = (to.stats.video?.framesDecoded ?? 0) - (from.stats.video?.framesDecoded ?? 0)
  return (frames * 1_000) / (to.at - from.at)
}

function reportSound(name: string, from: Reading, to: Reading): void {
  const more = (count: 'concealed' | 'samples'): number =>
    (to.stats.audio?.[count] ?? 0) - (from.stats.audio?.[count] ?? 0)
  const share = more('concealed') / more('samples')
  report(`${name}: sound concealed`, `${(share * 100).toFixed(1)}%`, 'under 5%', share < 0.05)
}

function reportOffered(name: string, from: Reading, to: Reading): void {
  const ratio = (to.counts.offered - from.counts.offered) / (to.counts.passed - from.counts.passed)
  report(`${name}: packets offered for one that passes`, ratio.toFixed(2), 'at most 1.3', ratio <= 1.3)
}

/** How long until the large picture is back, or more than key frames. */
async function reportBack(name: string, page: MediaPage, before?: Reading): Promise<void> {
  const began = performance.now()
  const isBack = ({ video }: PeerStats): boolean =>
    before === undefined
      ? (video?.height ?? 0) > 180
      : (video?.framesDecoded ?? 0) > (before.stats.video?.framesDecoded ?? 0) + 2 * fps
  const back = await page.until('cam', isBack, backMs).then(
    () => performance.now() - began,
    () => Infinity,
  )
  report(`${name}: back at full size`, `${(back / 1_000).toFixed(1)} s`, 'within 10 s', back <= 10_000)
}

async function close({ node }: Site, room: string, ...pages: MediaPage[]): Promise<void> {
  for (const page of pages) await page.page.close()
  await node.request('close_room', { roomId: room })
}

if (import.meta.main) await measureLinks()

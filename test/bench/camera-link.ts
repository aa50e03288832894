/** Viewers of a camera on small, lossy or slow links: a part of `links.ts`. The measure is the frames that the browser decodes. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Camera } from '../support/camera/camera.ts'
import { MediaPage, type PeerStats } from '../support/media/browser.ts'
import type { LinkCounts } from '../support/media/link.ts'
import type { LossyProxy } from '../support/media/lossy-proxy.ts'
import { type BadLink, badLinks, type LinkRow, type LinkSite, overBadLink } from './link-site.ts'
import { report } from './table.ts'

/** Frame rate of the cameras. */
export const fps = 25
/** Rate of the small link in kbit/s, with a queue of 300 ms in each direction. */
const smallKbps = 600
const cleanMs = 8_000
const smallMs = 15_000
/** Time after which a viewer has to be served well on the small link, in milliseconds. */
const settledMs = 3_000
/** Maximum time until a viewer is back at full size, in milliseconds. */
const backMs = 20_000
const conditionMs = 15_000

/** Readings at one moment. */
interface Reading {
  stats: PeerStats
  /** Complete pictures of the main stream that the camera sent. */
  frames: number
  counts: LinkCounts
  at: number
}

/** Makes the rows. @param small the camera's substream */
export function cameraRows(large: Camera, small: Camera): LinkRow[] {
  return [
    { name: 'second-stream', measure: async (site) => await substream(site, large, small) },
    { name: 'key-frames', measure: async (site) => await keyFramesOnly(site, large) },
    ...badLinks.map((each) => ({
      name: `camera-${each.row}`,
      measure: async (site: LinkSite) => await badLink(site, large, each),
    })),
  ]
}

async function substream(site: LinkSite, large: Camera, small: Camera): Promise<void> {
  await site.node.openRoom('second')
  await site.node.addDevice('second', 'cam', large.url('/cam'), { assistAddress: small.url('/video') })
  const name = 'camera 2 Mbit/s with a second stream of 400 kbit/s, behind 600 kbit/s'
  const [page, beside] = [await watch(site, 'second', site.changing), await watch(site, 'second', site.good)]
  await sleep(cleanMs)
  const besideBefore = await read(site, beside, 'second', site.good)
  const { toClient } = site.changing
  Object.assign(toClient, { kbps: smallKbps, queueMs: 300 })
  const [shrunk, settled, end] = await readings(site, page, 'second')
  toClient.kbps = Infinity
  const rate = perSecond(settled, end)
  report(`${name}: frames from 3 s on`, `${rate.toFixed(1)} a second`, 'at least 20', rate >= 20)
  reportSound(name, shrunk, end)
  reportOffered(name, shrunk, end)
  await reportBack(name, page)
  const besideAfter = await read(site, beside, 'second', site.good)
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

async function keyFramesOnly(site: LinkSite, large: Camera): Promise<void> {
  await site.node.openRoom('alone')
  await site.node.addDevice('alone', 'cam', large.url('/cam'))
  const name = 'camera 2 Mbit/s with nothing smaller, behind 600 kbit/s'
  const page = await watch(site, 'alone', site.changing)
  await sleep(cleanMs)
  const { toClient } = site.changing
  Object.assign(toClient, { kbps: smallKbps, queueMs: 300 })
  const [shrunk, settled, end] = await readings(site, page, 'alone')
  toClient.kbps = Infinity
  const rate = perSecond(settled, end)
  report(`${name}: key frames from 3 s on`, `${rate.toFixed(2)} a second`, 'at least 0.4 of 0.5', rate >= 0.4)
  reportSound(name, shrunk, end)
  reportOffered(name, shrunk, end)
  const before = await read(site, page, 'alone', site.changing)
  await reportBack(name, page, before)
  await close(site, 'alone', page)
}

async function badLink(site: LinkSite, large: Camera, bad: BadLink): Promise<void> {
  const { row: room, name, goal } = bad
  await site.node.openRoom(room)
  await site.node.addDevice(room, 'cam', large.url('/cam'))
  const page = await watch(site, room, site.changing)
  await overBadLink(site.changing, bad, async () => {
    const began = await read(site, page, room, site.changing)
    await sleep(conditionMs)
    const ended = await read(site, page, room, site.changing)
    const shown = (ended.stats.video?.framesDecoded ?? 0) - (began.stats.video?.framesDecoded ?? 0)
    const sent = ended.frames - began.frames
    const percent = `at least ${Math.round(goal * 100)}%`
    report(`camera 2 Mbit/s, ${name}`, `${shown} of ${sent} frames`, percent, shown >= goal * sent)
  })
  await close(site, room, page)
}

async function watch({ node, browser }: LinkSite, room: string, { host }: LossyProxy): Promise<MediaPage> {
  const page = await MediaPage.open(browser, node.url)
  const token = node.token(room, { role: 'observer', lifeMs: 600_000 })
  await page.call('watch', 'cam', `${node.url}/whep/${room}/cam`, token, { addresses: 'never', through: host })
  await page.decodes('cam', 5)
  return page
}

/** Takes readings when the link has become small, when it should have settled, and at the end. */
async function readings(site: LinkSite, page: MediaPage, room: string): Promise<[Reading, Reading, Reading]> {
  const shrunk = await read(site, page, room, site.changing)
  await sleep(settledMs)
  const settled = await read(site, page, room, site.changing)
  await sleep(smallMs - settledMs)
  return [shrunk, settled, await read(site, page, room, site.changing)]
}

async function read({ node }: LinkSite, page: MediaPage, room: string, { toClient }: LossyProxy): Promise<Reading> {
  const [stats, stream] = await Promise.all([page.call('stats', 'cam'), node.stream(room, 'cam')])
  return { stats, frames: stream?.frames ?? 0, counts: { ...toClient.counts }, at: performance.now() }
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

/** Reports the time until the main stream is back, or more than key frames arrive. */
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

async function close({ node }: LinkSite, room: string, ...pages: MediaPage[]): Promise<void> {
  for (const page of pages) await page.page.close()
  await node.request('close_room', { roomId: room })
}

/** People whose uplink is small, lossy or slow: a part of `links.ts`. They publish noise, which takes all available bandwidth. */
import { setTimeout as sleep } from 'node:timers/promises'
import { MediaPage, type PeerStats } from '../support/media/browser.ts'
import { type BadLink, badLinks, type LinkRow, type LinkSite, overBadLink } from './link-site.ts'
import { report } from './table.ts'

const smallKbps = 600
const rampBitrate = 1_500_000
const rampMs = 3_000
const cleanMs = 8_000
/** Time after which viewers have to see every encoded frame on the small uplink, in milliseconds. */
const settledMs = 5_000
const smallMs = 15_000
const conditionMs = 10_000

interface Pages {
  person: MediaPage
  viewer: MediaPage
  /** Time of the offer. */
  began: number
}

/** Frames so far. */
interface Frames {
  encoded: number
  decoded: number
}

async function shrinking(site: LinkSite, name: string, transportFeedback: boolean): Promise<void> {
  const pages = await open(site, transportFeedback)
  const beside = await openBeside(site)
  const mayRamp = ({ availableBitrate }: PeerStats): boolean => (availableBitrate ?? 0) >= rampBitrate
  const ramped = await pages.person.until('own', mayRamp).then(
    () => performance.now() - pages.began,
    () => Infinity,
  )
  report(`${name}: may send 1.5 Mbit/s`, `after ${(ramped / 1_000).toFixed(1)} s`, 'within 3 s', ramped <= rampMs)
  await sleep(Math.max(0, cleanMs - ramped))
  const [before, besideBefore] = await Promise.all([frames(pages), frames(beside)])
  Object.assign(site.changing.toTarget, { kbps: smallKbps, queueMs: 300 })
  await sleep(settledMs)
  const settled = await frames(pages)
  await sleep(smallMs - settledMs)
  const [end, besideEnd] = await Promise.all([frames(pages), frames(beside)])
  site.changing.toTarget.kbps = Infinity
  const first = `${settled.decoded - before.decoded} of ${settled.encoded - before.encoded} frames`
  report(`${name}, uplink shrinks to 600 kbit/s: in the first 5 s`, first, 'none', true)
  reportSeen(`${name}, uplink shrinks to 600 kbit/s: seen from 5 s on`, settled, end, 0.9)
  reportSeen(`${name}, uplink shrinks to 600 kbit/s: a good viewer beside them`, besideBefore, besideEnd, 0.99)
  for (const { page } of [beside.person, beside.viewer]) await page.close()
  await close(site, pages)
}

export const uplinkRows: readonly LinkRow[] = [
  { name: 'uplink', measure: async (site) => await shrinking(site, 'a person 1.7 Mbit/s', true) },
  {
    name: 'uplink-remb',
    measure: async (site) =>
      await shrinking(site, 'a person 1.7 Mbit/s whose browser knows nothing of transport feedback', false),
  },
  ...badLinks.map((each) => ({
    name: `uplink-${each.row}`,
    measure: async (site: LinkSite) => await badUplink(site, each),
  })),
]

async function badUplink(site: LinkSite, bad: BadLink): Promise<void> {
  const pages = await open(site, true)
  await overBadLink(site.changing, bad, async () => {
    const began = await frames(pages)
    await sleep(conditionMs)
    reportSeen(`a person 1.7 Mbit/s, uplink: ${bad.name}`, began, await frames(pages), bad.goal)
  })
  await close(site, pages)
}

/** Opens another user of the room, with good links in both directions, who watches them. */
async function openBeside({ node, browser, good }: LinkSite): Promise<Pages> {
  const [person, viewer] = [await MediaPage.open(browser, node.url), await MediaPage.open(browser, node.url)]
  const token = (userId: string): string => node.token('uplink', { userId, lifeMs: 600_000 })
  const how = { codec: 'VP8', addresses: 'never', through: good.host } as const
  const began = performance.now()
  await person.call('publish', 'own', `${node.url}/whip/uplink`, token('good'), how)
  const url = `${node.url}/whep/uplink/good`
  await viewer.call('watch', 'person', url, token('beside'), { addresses: 'never', through: good.host })
  await viewer.decodes('person', 5)
  return { person, viewer, began }
}

async function open({ node, browser, changing, good }: LinkSite, transportFeedback: boolean): Promise<Pages> {
  await node.openRoom('uplink')
  const [person, viewer] = [await MediaPage.open(browser, node.url), await MediaPage.open(browser, node.url)]
  const token = (userId: string): string => node.token('uplink', { userId, lifeMs: 600_000 })
  const how = {
    codec: 'VP8',
    addresses: 'never',
    pictures: 'noise',
    transportFeedback,
    through: changing.host,
  } as const
  const began = performance.now()
  await person.call('publish', 'own', `${node.url}/whip/uplink`, token('person'), how)
  const url = `${node.url}/whep/uplink/person`
  await viewer.call('watch', 'person', url, token('viewer'), { addresses: 'never', through: good.host })
  await viewer.decodes('person', 5)
  return { person, viewer, began }
}

async function frames({ person, viewer }: Pages): Promise<Frames> {
  const [sent, seen] = await Promise.all([person.call('stats', 'own'), viewer.call('stats', 'person')])
  return { encoded: sent.videoSent?.framesDecoded ?? 0, decoded: seen.video?.framesDecoded ?? 0 }
}

function reportSeen(name: string, from: Frames, to: Frames, goal: number): void {
  const [decoded, encoded] = [to.decoded - from.decoded, to.encoded - from.encoded]
  const percent = `at least ${Math.round(goal * 100)}%`
  report(name, `${decoded} of ${encoded} frames`, percent, decoded >= goal * encoded)
}

async function close({ node }: LinkSite, { person, viewer }: Pages): Promise<void> {
  for (const { page } of [person, viewer]) await page.close()
  await node.request('close_room', { roomId: 'uplink' })
}

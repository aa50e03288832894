/** People who publish three layers, before viewers whose link is too small for the largest: a part of `links.ts`. They publish noise, which takes all available bandwidth. */
import { setTimeout as sleep } from 'node:timers/promises'
import { MediaPage, type PeerStats } from '../support/media/browser.ts'
import type { LinkRow, LinkSite } from './link-site.ts'
import { report } from './table.ts'

const smallKbps = 600
const cleanMs = 8_000
/** Time after which a viewer has to be served well on the small link, in milliseconds. */
const settledMs = 3_000
const smallMs = 15_000
const backMs = 30_000

/** Frames of the largest layer that were sent, and seen. */
interface Frames {
  sent: number
  small: number
  good: number
  at: number
}

export const layeredRows: readonly LinkRow[] = (['VP8', 'H264'] as const).map((codec) => ({
  name: codec.toLowerCase(),
  measure: async (site) => await behindSmallLink(site, codec),
}))

async function behindSmallLink({ node, browser, changing, good }: LinkSite, codec: 'VP8' | 'H264'): Promise<void> {
  await node.openRoom('layers')
  const open = async (): Promise<MediaPage> => await MediaPage.open(browser, node.url)
  const [person, viewer, beside] = [await open(), await open(), await open()]
  const token = (userId: string): string => node.token('layers', { userId, lifeMs: 600_000 })
  const how = { codec, addresses: 'never', pictures: 'noise', layered: true, through: good.host } as const
  await person.call('publish', 'own', `${node.url}/whip/layers`, token('person'), how)
  const url = `${node.url}/whep/layers/person`
  await viewer.call('watch', 'person', url, token('viewer'), { addresses: 'never', through: changing.host })
  await beside.call('watch', 'person', url, token('beside'), { addresses: 'never', through: good.host })
  await sleep(cleanMs)
  // A browser without enough processor time sends all layers smaller; half the size is another layer.
  const isLarge = ({ video }: PeerStats): boolean => (video?.height ?? 0) > largest * 0.7
  const largest = (await beside.until('person', ({ video }) => (video?.framesDecoded ?? 0) > 0)).video?.height ?? 0
  const frames = async (): Promise<Frames> => {
    const [own, one, other] = await Promise.all([
      person.call('stats', 'own'),
      viewer.call('stats', 'person'),
      beside.call('stats', 'person'),
    ])
    const decoded = ({ video }: PeerStats): number => video?.framesDecoded ?? 0
    // Received frames count as seen even while queued: a viewer waits longer after late pictures.
    const seen = ({ video }: PeerStats): number => (video?.framesReceived ?? 0) - (video?.framesDropped ?? 0)
    return { sent: own.videoSent?.framesDecoded ?? 0, small: decoded(one), good: seen(other), at: performance.now() }
  }
  const name = `a person 1.7 Mbit/s in ${codec}, behind 600 kbit/s`
  const before = await frames()
  Object.assign(changing.toClient, { kbps: smallKbps, queueMs: 300 })
  await sleep(settledMs)
  const settled = await frames()
  await sleep(smallMs - settledMs)
  const end = await frames()
  changing.toClient.kbps = Infinity
  const rate = ((end.small - settled.small) * 1_000) / (end.at - settled.at)
  report(`${name}: frames from 3 s on`, `${rate.toFixed(1)} a second`, 'at least 10', rate >= 10)
  const [seen, sent] = [end.good - before.good, end.sent - before.sent]
  report(`${name}: a good viewer beside it`, `${seen} of ${sent} frames`, 'at least 99%', seen >= 0.99 * sent)
  const began = performance.now()
  const back = await viewer.until('person', isLarge, backMs).then(
    () => performance.now() - began,
    () => Infinity,
  )
  report(`${name}: back on the largest`, `${(back / 1_000).toFixed(1)} s`, 'within 10 s', back <= 10_000)
  for (const { page } of [person, viewer, beside]) await page.close()
  await node.request('close_room', { roomId: 'layers' })
}

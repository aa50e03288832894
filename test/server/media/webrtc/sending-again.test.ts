import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { negativeAcknowledgement, receiverReport } from '../../../../server/media/rtp/rtcp.ts'
import { isRtcp, sequenceOf, ssrcOf } from '../../../../server/media/rtp/packet.ts'
import { startPacedCamera } from '../../../support/camera/paced-camera.ts'
import { startLossyProxy } from '../../../support/media/lossy-proxy.ts'
import { TestMediaNode } from '../../../support/media/media-node.ts'
import { WhepPeer } from '../../../support/media/whep-peer.ts'
import { shared } from '../../../support/fixtures.ts'

/** Bytes of each media packet, with its tag (RFC 3711, section 5.2). */
const packetBytes = 1_010

const node = shared(() => TestMediaNode.start({ settings: { advertised: ['127.0.0.3'] } }))
const proxy = shared(() => startLossyProxy(node().udpPort, 0, '127.0.0.3'))
shared(async () => {
  const camera = await startPacedCamera({ packets: 5, everyMs: 20, bytes: packetBytes - 10 })
  await node().openRoom('again')
  await node().addDevice('again', 'cam', camera.url)
  return camera
})

/** Opens a viewer that collects its media packets. */
async function watch(): Promise<{ peer: WhepPeer; seen: Buffer[]; reports: Buffer[]; ssrc: () => number }> {
  const seen: Buffer[] = []
  const reports: Buffer[] = []
  const token = node().token('again', { role: 'observer' })
  const peer = await WhepPeer.open(`${node().url}/whep/again/cam`, token, (message) => {
    ;(isRtcp(message) ? reports : seen).push(Buffer.from(message))
  })
  onTestFinished(async () => {
    await peer.close()
  })
  return { peer, seen, reports, ssrc: () => ssrcOf(seen[0] ?? Buffer.alloc(12)) }
}

test('a viewer gets a packet that it lost, and no other', async () => {
  const { peer, seen, ssrc } = await watch()
  await expect.poll(() => seen.length).toBeGreaterThan(50)
  const before = seen.length
  proxy().loseMedia = 2
  const gap = (): number =>
    seen.findIndex((packet, i) => i > 0 && sequenceOf(packet) === sequenceOf(seen[i - 1] ?? packet) + 3)
  await expect.poll(gap).toBeGreaterThanOrEqual(before - 1)
  const [ahead, after] = [seen[gap() - 1] ?? Buffer.alloc(12), seen[gap()] ?? Buffer.alloc(12)]
  const missed = sequenceOf(ahead) + 1
  // The same number of another stream is ignored.
  peer.send(negativeAcknowledgement(ssrc() + 1, [missed + 1]))
  peer.send(negativeAcknowledgement(ssrc(), [missed]))
  await expect.poll(() => seen.find((packet) => sequenceOf(packet) === missed)).toBeDefined()
  const again = seen.find((packet) => sequenceOf(packet) === missed)
  // Complete, with the viewer's own ids, and with the send time of a neighbour.
  expect(again).toHaveLength(after.length)
  expect([again?.readUInt8(1), ahead.readUInt8(1)].map((byte = 0) => byte & 0x7f)).toEqual([102, 102])
  expect([ahead.readUInt32BE(4), after.readUInt32BE(4)]).toContain(again?.readUInt32BE(4))
  expect(seen.some((packet) => sequenceOf(packet) === missed + 1)).toBe(false)
})

test('a viewer that reports its time receives the round trip, within 50 ms on a short path, and so the time of the next request', async () => {
  const { peer, reports, ssrc } = await watch()
  const sender = ssrc()
  const none = { fractionLost: 0, lost: 0, highest: 0, jitter: 0, lastReport: 0, delay: 0 }
  // An extended report of SSRC 9 with its reference time (RFC 3611, section 4.4).
  const time = Buffer.from('80cf0004' + '00000009' + '04000002' + 'aabbccdd11223344', 'hex')
  const began = performance.now()
  peer.send(Buffer.concat([receiverReport({ ssrc: sender, ...none }), time]))
  const answer = (): string | undefined => reports.find((report) => report[1] === 207)?.toString('hex')
  const head = `80cf0005${sender.toString(16).padStart(8, '0')}`
  await expect.poll(answer).toBe(head + '05000003' + '00000009' + 'ccdd1122' + '00000000')
  expect(performance.now() - began).toBeGreaterThan(40)
})

test('a viewer that requests everything again and again costs at most a quarter more than one that does not', async () => {
  const sent = countMedia()
  const { peer, seen, ssrc } = await watch()
  // The initial burst of a new viewer does not count: its second is over.
  await expect.poll(() => seen.length).toBeGreaterThan(150)
  /** Requests everything until then; counts bytes sent for the first time, and again. */
  const askUntil = async (enough: (count: Sent) => boolean): Promise<Sent> => {
    const [first, again] = [sent.first, sent.again]
    const count = () => ({ first: sent.first - first, again: sent.again - again })
    while (!enough(count())) {
      peer.send(negativeAcknowledgement(ssrc(), seen.slice(-200).map(sequenceOf)))
      await sleep(10)
    }
    return count()
  }
  // Uses up what may be sent again at once.
  await askUntil(({ first, again }) => again > 32 * 1024 + first * 0.25 - 2 * packetBytes)
  const { first, again } = await askUntil((count) => count.first > 400_000)
  expect(again).toBeGreaterThan(first * 0.2)
  expect(again).toBeLessThanOrEqual(first * 0.25 + 2 * packetBytes)
})

/** Bytes of media that were sent to the viewer. */
interface Sent {
  first: number
  again: number
}

/** Counts where packets leave the node, by their numbers: what is under way to the viewer belongs to neither side. */
function countMedia(): Sent {
  const sent: Sent = { first: 0, again: 0 }
  const known = new Set<string>()
  proxy().onMedia = (packet) => {
    const key = `${ssrcOf(packet)} ${sequenceOf(packet)}`
    sent[known.has(key) ? 'again' : 'first'] += packet.length
    known.add(key)
  }
  onTestFinished(() => {
    proxy().onMedia = () => {}
  })
  return sent
}

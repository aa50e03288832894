import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRtcp, ssrcOf } from '../../server/media/rtp/packet.ts'
import { estimatedBitrate, negativeAcknowledgement, receiverReport } from '../../server/media/rtp/rtcp.ts'
import { Arrivals } from '../support/media/arrivals.ts'
import { WhepPeer } from '../support/media/whep-peer.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { WhipPeer } from '../support/media/whip-peer.ts'

let node: TestMediaNode
beforeAll(async () => {
  node = await TestMediaNode.start()
})
afterAll(async () => {
  expect(node.complaints).toEqual([])
  await node.stop()
})

test('losses between publisher and node do not count against a viewer’s link: the viewer gets the full stream', async () => {
  await node.openRoom('lossy')
  const url = `${node.url}/whip/lossy`
  const ann = await WhipPeer.open(url, node.token('lossy', { userId: 'ann' }), { audio: false, loses: 0.4 })
  const signal = await SignalClient.join(node.url, 'lossy', { token: node.token('lossy') })
  const video = new Arrivals()
  let ssrc = 0
  let missing: number[] = []
  let last = -1
  const peer = await WhepPeer.open(`${node.url}/whep/lossy/ann`, signal.joined.session, (message) => {
    if (isRtcp(message)) return
    ssrc = ssrcOf(message)
    video.note(message)
    const number = message.readUInt16BE(2)
    for (let next = last + 1; last >= 0 && next < number; next++) missing.push(next)
    last = number
  })
  // A good link: an estimate far above the sent rate, and loss reports four times a second.
  let [sent, received] = [0, 0]
  const timer = setInterval(() => {
    const share = 1 - (video.received - received) / Math.max(1, video.sent - sent)
    ;[sent, received] = [video.sent, video.received]
    const block = {
      ssrc,
      fractionLost: Math.round(share * 256),
      lost: 0,
      highest: 0,
      jitter: 0,
      lastReport: 0,
      delay: 0,
    }
    peer.send(Buffer.concat([receiverReport(block), estimatedBitrate(ssrc, 5_000_000)]))
    if (missing.length > 0) peer.send(negativeAcknowledgement(ssrc, missing))
    missing = []
  }, 250)
  // Longer than the node takes to judge a link.
  await expect.poll(() => video.sent, { timeout: 20_000 }).toBeGreaterThan(50 * 7)
  clearInterval(timer)
  expect(signal.messages.filter(({ type }) => type === 'stream_size')).toEqual([])
  expect(video.received / video.sent).toBeLessThan(0.75)
  await peer.close()
  signal.drop()
  await ann.close()
})

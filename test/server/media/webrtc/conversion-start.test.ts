import { expect, test, vi } from 'vitest'
import { Feed } from '../../../../server/media/feeds/feed.ts'
import { FeedStream, fixedStreams } from '../../../../server/media/feeds/picture-streams.ts'
import { payloadOf, sequenceOf, timestampOf } from '../../../../server/media/rtp/packet.ts'
import { ConvertedPackets } from '../../../../server/media/transcode/converted-packets.ts'
import { parseOffer } from '../../../../server/media/webrtc/offer.ts'
import { Outgoing } from '../../../../server/media/webrtc/outgoing.ts'
import { Viewer } from '../../../../server/media/webrtc/viewer.ts'
import { complaintLog } from '../../../support/media/complaints.ts'
import { offerSdp } from '../../../support/media/offer.ts'
import { delta, idr, pps, rtp, sps } from '../rtp/packets.ts'
import { UdpPort } from '../../../../server/media/webrtc/peer-ports.ts'

/** Ticks from picture to picture. */
const ticks = 3_600

interface Sent {
  number: number
  timestamp: number
  /** Type of the NAL unit. */
  type: number
}

/** A viewer of a camera, and everything that it is sent. */
async function watched(feed: Feed): Promise<{ sent: Sent[]; close: () => void }> {
  const port = await UdpPort.open('127.0.0.1', '127.0.0.1', 0)
  const complaints: string[] = []
  const settings = {
    udpPort: port.port,
    bindAddress: '127.0.0.1',
    advertised: [],
    restarts: undefined,
    delay: { high: false },
    log: complaintLog(complaints),
  }
  const sent: Sent[] = []
  const spy = vi.spyOn(Outgoing.prototype, 'send').mockImplementation(function (this: Outgoing, packet) {
    const type = (payloadOf(packet)[0] ?? 0) & 0x1f
    sent.push({ number: sequenceOf(packet), timestamp: timestampOf(packet), type })
  })
  vi.spyOn(Outgoing.prototype, 'begun', 'get').mockImplementation(() => sent.length > 0)
  const viewer = new Viewer(
    { feed, streams: fixedStreams(new FeedStream(feed)), resized: () => {} },
    settings,
    () => {},
  )
  await viewer.answer(parseOffer(offerSdp()))
  viewer.peer.onOpen()
  return {
    sent,
    close: () => {
      expect(complaints).toEqual([])
      feed.end()
      spy.mockRestore()
      vi.restoreAllMocks()
      port.close()
    },
  }
}

function camera(): Feed {
  return new Feed({
    video: { codec: 'H264', profileLevelId: '42e01f', parameterSets: '' },
    audio: undefined,
    cached: true,
    requestKeyFrame: () => {},
  })
}

test.each([
  ['from its first IDR picture on', idr],
  ['without any IDR picture', delta],
])(
  'a viewer of a camera that is passed on %s goes on with the pictures of a conversion that begins',
  async (_what, first) => {
    const feed = camera()
    const pictures = 40
    feed.pushVideo(rtp(1, 0, sps))
    feed.pushVideo(rtp(2, 0, first, { marker: true }))
    const { sent, close } = await watched(feed)
    try {
      for (let index = 1; index < pictures; index++)
        feed.pushVideo(rtp(2 + index, index * ticks, delta, { marker: true }))
      const before = sent.at(-1)
      feed.changeSource()
      const converted = new ConvertedPackets(feed)
      // The decoder begins with a picture that the viewer was sent before.
      const begins = pictures - 2
      converted.picture(
        begins * ticks,
        [sps, pps, idr].map((unit) => Buffer.from(unit)),
      )
      for (let index = 1; index < 5; index++) converted.picture((begins + index) * ticks, [Buffer.from(delta)])
      const after = sent.slice(-7)
      expect(after.map(({ type }) => type)).toEqual([7, 8, 5, 1, 1, 1, 1])
      const [key] = after
      expect(((key?.timestamp ?? 0) - (before?.timestamp ?? -1)) | 0).toBeGreaterThan(0)
      const numbers = sent.map(({ number }) => number)
      expect(numbers).toEqual(numbers.map((_, index) => ((numbers[0] ?? 0) + index) & 0xffff))
      expect(after.slice(3).map(({ timestamp }, index) => timestamp - (after[index + 2]?.timestamp ?? 0))).toEqual(
        Array.from({ length: 4 }, () => ticks),
      )
    } finally {
      close()
    }
  },
)

import { expect, test, vi } from 'vitest'
import { parseOffer } from '../../../../server/media/webrtc/offer.ts'
import { Peer } from '../../../../server/media/webrtc/peer.ts'
import { Feed } from '../../../../server/media/feeds/feed.ts'
import { FeedStream, fixedStreams } from '../../../../server/media/feeds/picture-streams.ts'
import { Viewer } from '../../../../server/media/webrtc/viewer.ts'
import { complaintLog } from '../../../support/media/complaints.ts'
import { offerSdp } from '../../../support/media/offer.ts'
import { idr, rtp } from '../rtp/packets.ts'
import { UdpPort } from '../../../../server/media/webrtc/peer-ports.ts'

const unexpected = (): never => {
  throw new TypeError('nobody foresaw this')
}

test('an error in a handler of a connection ends this connection, is logged once in full, and leaves the others alive', async () => {
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
  try {
    const closed = vi.fn()
    const failing = new Peer('failing', settings, closed)
    const other = new Peer('other', settings, closed)
    failing.lifetime.guard(unexpected)()
    failing.lifetime.after(0, unexpected)
    expect(failing.closed).toBe(true)
    expect(other.closed).toBe(false)
    expect(closed).toHaveBeenCalledOnce()
    expect(complaints).toHaveLength(1)
    expect(complaints[0]).toContain('TypeError: nobody foresaw this\n    at ')
    // A listener for the end may fail as well.
    const untold = new Peer('untold', settings, unexpected)
    untold.close()
    expect(complaints).toHaveLength(2)
    other.close()
  } finally {
    port.close()
  }
})

test('a viewer that fails on a packet leaves its feed, and the camera continues', async () => {
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
  const feed = new Feed({
    video: { codec: 'H264', profileLevelId: '42e01f', parameterSets: '' },
    audio: undefined,
    cached: true,
    requestKeyFrame: () => {},
  })
  try {
    const closed = vi.fn()
    const viewer = new Viewer(
      { feed, streams: fixedStreams(new FeedStream(feed)), resized: () => {} },
      settings,
      closed,
    )
    await viewer.answer(parseOffer(offerSdp()))
    feed.add(viewer)
    vi.spyOn(viewer, 'video').mockImplementation(unexpected)
    feed.pushVideo(rtp(1, 1_000, idr))
    expect(viewer.peer.closed).toBe(true)
    expect(closed).toHaveBeenCalledOnce()
    expect(feed.watchers).toBe(0)
    expect(feed.over).toBe(false)
    expect(complaints[0]).toContain('nobody foresaw this')
  } finally {
    feed.end()
    port.close()
  }
})

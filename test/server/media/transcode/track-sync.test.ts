import { expect, test } from 'vitest'
import { Feed } from '../../../../server/media/feeds/feed.ts'
import { TrackSync, ConvertedTracks } from '../../../../server/media/transcode/camera-conversion.ts'
/** A packet of sound with this timestamp. */
function packet(timestamp: number): Buffer {
  const bytes = Buffer.alloc(13)
  bytes[0] = 0x80
  bytes.writeUInt32BE(timestamp, 4)
  return bytes
}

test.each(['video', 'audio'] as const)(
  'a camera whose %s alone has reports, by a clock of another year, keeps in step',
  (kind) => {
    const feed = new Feed({
      video: { codec: 'H264', profileLevelId: '', parameterSets: '' },
      audio: { codec: 'OPUS', clockRate: 48_000 },
      cached: false,
      requestKeyFrame: () => {},
    })
    const sync = new TrackSync(feed, new ConvertedTracks())
    const year = 31_536_000_000
    const other = kind === 'video' ? 'audio' : 'video'
    for (const second of [0, 1, 2]) {
      const now = second * 1_000
      sync.arrived(kind, packet(5_000), now)
      sync.report(kind, { ntp: Date.now() - year, timestamp: 5_000, middle: 0 })
      sync.arrived(other, packet(7_000), now)
      // The packets of both came at one moment, to some milliseconds.
      expect(Math.abs(feed.clock(kind).ticksTo(feed.clock(other), Date.now()) - 2_000)).toBeLessThan(90 * 200)
    }
  },
)

import { expect, test } from 'vitest'
import { DeclaredClocks } from '../../../../server/media/rtsp/received-tracks.ts'
import { clockPointOf, senderReport } from '../../../../server/media/rtp/rtcp.ts'

const packet = (timestamp: number): Buffer => {
  const bytes = Buffer.alloc(12, 0x80)
  bytes.writeUInt32BE(timestamp >>> 0, 4)
  return bytes
}

/** Timestamps that packets with these have at 90 kHz. */
function converted(clocks: DeclaredClocks, track: { declaredClock?: number }, timestamps: readonly number[]): number[] {
  return timestamps.map((timestamp) => {
    const bytes = packet(timestamp)
    clocks.convertPacket(track, bytes)
    return bytes.readUInt32BE(4)
  })
}

test('timestamps of a declared clock continue at 90 kHz, across wraps and with late packets', () => {
  const track = { declaredClock: 1_000 }
  const stamps = [2 ** 32 - 80, 2 ** 32 - 80, 2 ** 32 - 40, 2 ** 32 - 80, 0, 40]
  const [first = 0, ...others] = converted(new DeclaredClocks(), track, stamps)
  expect(others.map((timestamp) => (timestamp - first) >>> 0)).toEqual([0, 3_600, 0, 7_200, 10_800])
})

test('sender reports use the same clock as the packets', () => {
  const clocks = new DeclaredClocks()
  const track = { declaredClock: 48_000 }
  const [first = 0, second = 0] = converted(clocks, track, [96_000, 144_000])
  const report = senderReport(7, 1_000_000, 120_000, 1, 1)
  clocks.convertReports(track, report)
  expect(clockPointOf(report)?.timestamp).toBe((first + second) / 2)
})

test('a track of 90 kHz stays unchanged', () => {
  expect(converted(new DeclaredClocks(), {}, [5, 2 ** 32 - 1])).toEqual([5, 2 ** 32 - 1])
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasMarker, sequenceOf, timestampOf } from '../../../../server/media/rtp/packet.ts'
import { Refragmentation } from '../../../../server/media/rtp/nal-units.ts'
import { rtp } from './packets.ts'

/** Passes packets through and returns the output. */
function through(codec: 'H264' | 'H265', packets: readonly Buffer[]): Buffer[] {
  const out: Buffer[] = []
  const refragmentation = new Refragmentation(codec, (packet) => out.push(packet))
  for (const packet of packets) refragmentation.push(Buffer.from(packet))
  return out
}

/** Reassembles the NAL units of H.264 packets like a receiver (RFC 6184, sections 5.6 to 5.8). */
function h264Units(packets: readonly Buffer[]): Buffer[] {
  const units: Buffer[] = []
  let parts: Buffer[] = []
  for (const packet of packets) {
    const payload = packet.subarray(12)
    const [indicator = 0, header = 0] = payload
    if ((indicator & 0x1f) !== 28) {
      units.push(payload)
      continue
    }
    if ((header & 0x80) !== 0) parts = [Buffer.from([(indicator & 0xe0) | (header & 0x1f)])]
    parts.push(payload.subarray(2))
    if ((header & 0x40) !== 0) units.push(Buffer.concat(parts))
  }
  return units
}

const unit = (first: number, length: number): number[] => [
  first,
  ...Array.from({ length: length - 1 }, (_, i) => (i * 7) & 0xff),
]

test('H.264 of any length arrives unchanged, in packets that fit a browser, with contiguous numbers and one marker per picture', () => {
  const lengths = fc.array(fc.integer({ min: 4, max: 20_000 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(lengths, fc.integer({ min: 0, max: 65_535 }), (sizes, begin) => {
      const packets = sizes.map((size, i) => rtp(begin + i, 90 * i, unit(0x65, size), { marker: true }))
      const out = through('H264', packets)
      expect(Math.max(...out.map(({ length }) => length))).toBeLessThanOrEqual(1_400)
      expect(h264Units(out)).toEqual(packets.map((packet) => packet.subarray(12)))
      expect(out.map(sequenceOf)).toEqual(out.map((_, i) => (begin + i) & 0xffff))
      expect(out.filter(hasMarker).map(timestampOf)).toEqual(sizes.map((_, i) => 90 * i))
    }),
    { numRuns: 40 },
  )
})

test('long fragments are split again, and a long aggregation is unpacked', () => {
  const whole = Buffer.from(unit(0x65, 9_000))
  const fragment = (from: number, to: number, flags: number): number[] => [0x7c, flags | 5, ...whole.subarray(from, to)]
  const packets = [fragment(1, 3_000, 0x80), fragment(3_000, 6_000, 0), fragment(6_000, 9_000, 0x40)]
  const out = through(
    'H264',
    packets.map((payload, i) => rtp(i, 90, payload, { marker: i === 2 })),
  )
  expect(h264Units(out)).toEqual([whole])
  expect(out.map(hasMarker).lastIndexOf(true)).toBe(out.length - 1)
  expect(out.filter(hasMarker)).toHaveLength(1)

  const [sps, pps] = [Buffer.from([0x67, 1, 2, 3]), Buffer.from([0x68, 4, 5])]
  const aggregated = [sps, pps, whole].flatMap((each) => [each.length >> 8, each.length & 0xff, ...each])
  expect(h264Units(through('H264', [rtp(0, 90, [0x78, ...aggregated])]))).toEqual([sps, pps, whole])
})

test('H.265 is split into its own fragmentation units', () => {
  const whole = Buffer.from([0x26, 0x01, ...unit(3, 5_000)])
  const out = through('H265', [rtp(7, 90, [...whole], { marker: true })])
  expect(out.map((packet) => [packet[12], packet[13]])).toEqual(out.map(() => [0x62, 0x01]))
  expect(out.map((packet) => packet[14])).toEqual([0x80 | 19, ...out.slice(2).map(() => 19), 0x40 | 19])
  expect(Buffer.concat([whole.subarray(0, 2), ...out.map((packet) => packet.subarray(15))])).toEqual(whole)
})

test('short packets pass unchanged; loss stays a gap; a late packet whose number is used is dropped', () => {
  const short = rtp(1, 90, [0x41, 1, 2])
  expect(through('H264', [short])).toEqual([short])
  const long = unit(0x65, 3_000)
  const out = through('H264', [
    rtp(1, 1, long),
    rtp(2, 2, [0x41, 1]),
    rtp(5, 5, [0x41, 1]),
    rtp(4, 4, [0x41, 1]),
    rtp(1, 1, long),
  ])
  expect(out.map(sequenceOf)).toEqual([1, 2, 3, 4, 7, 6])
  // Sequence numbers wrap.
  expect(
    through('H264', [rtp(5, 1, long), ...Array.from({ length: 70_000 }, (_, i) => rtp(6 + i, 2, [0x41]))]),
  ).toHaveLength(70_003)
  // Packets of a restarted source are not late.
  expect(through('H264', [rtp(40_000, 1, long), rtp(9, 2, [0x41, 1])])).toHaveLength(4)
})

test('any other packet that is too long passes unchanged, and nothing throws', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1_401, maxLength: 4_000 }), (bytes) => {
      const packet = Buffer.from(bytes)
      packet[0] = 0x80 | ((packet[0] ?? 0) & 0x3f)
      for (const codec of ['H264', 'H265'] as const)
        for (const out of through(codec, [packet])) expect(out.length).toBeGreaterThanOrEqual(12)
    }),
    { numRuns: 300 },
  )
})

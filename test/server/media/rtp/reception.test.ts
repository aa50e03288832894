import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { payloadOf, sourcePadding } from '../../../../server/media/rtp/packet.ts'
import { Reception } from '../../../../server/media/rtp/reception.ts'
import {
  clockPointOf,
  eachReport,
  estimatedBitrate,
  negativeAcknowledgement,
  pictureLoss,
  readFeedback,
  receiverReport,
  referenceTimeAnswer,
  senderReport,
} from '../../../../server/media/rtp/rtcp.ts'
import { rtp } from './packets.ts'
import { BitrateEstimate } from '../../../../server/media/webrtc/publisher-feedback.ts'

/** Receives packets with these sequence numbers and returns those forwarded. */
function receive(reception: Reception, sequences: readonly number[], now = 0): number[] {
  return sequences.filter((sequence) => reception.received(rtp(sequence, sequence * 3_000, [0]), now))
}

/** Decodes the feedback of a viewer. */
function feedbackOf(...packets: Buffer[]): unknown[] {
  const told: unknown[] = []
  readFeedback(Buffer.concat(packets), {
    missing: (ssrc, sequence) => told.push(['missing', ssrc, sequence]),
    keyFrameWanted: () => told.push(['key frame']),
    bitrate: (bitsPerSecond) => told.push(['bitrate', bitsPerSecond]),
    block: (block) => told.push(['block', block]),
    referenceTime: (ssrc, middle) => told.push(['reference time', ssrc, middle]),
  })
  return told
}

describe('packets of a publisher', () => {
  test('are requested again when missing, five times with growing intervals, and then given up', () => {
    const reception = new Reception(90_000)
    const asked = (now: number): number[] => reception.toRequest(now).sequences
    expect(receive(reception, [65_534, 65_535, 2, 4])).toEqual([65_534, 65_535, 2, 4])
    expect(asked(1_000)).toEqual([0, 1, 3])
    expect(asked(1_020)).toEqual([])
    expect(receive(reception, [1])).toEqual([1])
    for (const now of [1_040, 1_080, 1_160, 1_320]) {
      expect(asked(now - 1)).toEqual([])
      expect(asked(now)).toEqual([0, 3])
    }
    expect(reception.toRequest(1_639)).toEqual({ sequences: [], givenUp: false, padding: [] })
    expect(reception.incomplete).toBe(true)
    expect(reception.toRequest(1_640)).toEqual({ sequences: [], givenUp: true, padding: [] })
    expect(reception.incomplete).toBe(false)
    // Too late, and duplicate: not forwarded.
    expect(receive(reception, [0, 1, 4, 5])).toEqual([5])
    expect(reception.recovered).toBe(1)
  })

  test('are not missing if they were padding between two pictures, but are if they were part of one', () => {
    const first = Buffer.of(1)
    const reception = new Reception(90_000, (packet) => payloadOf(packet).equals(first))
    const take = (packet: Buffer): boolean => reception.received(packet, 0)
    const ends = (sequence: number): Buffer => rtp(sequence, 0, [0], { marker: true })
    const pad = (sequence: number): Buffer => sourcePadding(7, 96, sequence, 0)
    // 2 and 3 lie between pictures, 6 may be a picture's last packet, and 9 its first.
    for (const packet of [ends(1), pad(4), rtp(5, 0, [0]), pad(7), ends(8), rtp(10, 0, [0])]) take(packet)
    const padding: number[] = []
    for (let now = 1; now < 2_000; now += 10) padding.push(...reception.toRequest(now).padding)
    expect(padding).toEqual([2, 3])
    // After the last packet of a picture, padding follows.
    const late = new Reception(90_000)
    for (const packet of [rtp(1, 0, [0]), pad(4)]) late.received(packet, 0)
    expect(late.toRequest(1).sequences).toEqual([2, 3])
    late.received(ends(2), 30)
    expect([41, 81].flatMap((now) => late.toRequest(now).padding)).toEqual([3])
    // Without recent padding a whole picture may be missing.
    const none = new Reception(90_000, () => true)
    for (const packet of [ends(1), ends(3)]) none.received(packet, 0)
    const told = [1, 41, 81, 161, 321, 641].map((now) => none.toRequest(now))
    expect(told.map(({ givenUp }) => givenUp)).toEqual([false, false, false, false, false, true])
  })

  test('are reported with their losses, without the recovered ones', () => {
    const reception = new Reception(90_000)
    receive(reception, [10, 11, 12, 14, 15, 16, 17, 18, 19])
    expect(reception.block(0)).toMatchObject({ lost: 1, fractionLost: 25, highest: 19 })
    receive(reception, [20, 13])
    expect(reception.block(0)).toMatchObject({ lost: 0, fractionLost: 0, highest: 20 })
    // Another source on the same section starts again.
    reception.received(rtp(500, 0, [0], { ssrc: 99 }), 0)
    expect(reception.block(0)).toMatchObject({ ssrc: 99, lost: 0, highest: 500 })
  })

  test('are forwarded once each, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(150), { minLength: 1, maxLength: 200 }), fc.nat(65_535), (offsets, start) => {
        const reception = new Reception(90_000)
        const passed = receive(
          reception,
          offsets.map((offset) => (start + offset) & 0xffff),
        )
        expect(new Set(passed).size).toBe(passed.length)
        const { fractionLost, lost } = reception.block(0)
        expect(fractionLost).toBeGreaterThanOrEqual(0)
        expect(fractionLost).toBeLessThanOrEqual(255)
        expect(lost).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  test('get a bitrate limit below the received rate as soon as many are lost, which rises again slowly', () => {
    const estimate = new BitrateEstimate(2_000_000)
    expect(estimate.lost(0.05, 1_900_000)).toBe(false)
    expect(estimate.bitrate).toBe(2_000_000)
    expect(estimate.lost(0.6, 600_000)).toBe(true)
    expect(estimate.bitrate).toBe(420_000)
    // Neither in the second of the loss, nor while packets are still lost.
    for (const share of [0, 0.05, 0, 0]) estimate.second(share)
    expect(estimate.bitrate).toBe(489_888)
    for (let i = 0; i < 100; i++) estimate.second(0)
    expect(estimate.bitrate).toBe(2_000_000)
    estimate.lost(1, 0)
    expect(estimate.bitrate).toBe(150_000)
  })
})

describe('RTCP', () => {
  test('reads back as written', () => {
    const report = senderReport(5, 1_700_000_000_250, 777, 10, 1_000)
    const point = clockPointOf(report)
    expect(point).toMatchObject({ timestamp: 777 })
    expect(point?.ntp).toBeCloseTo(1_700_000_000_250, 1)
    const block = {
      ssrc: 5,
      fractionLost: 3,
      lost: 4,
      highest: 70_000,
      jitter: 2,
      lastReport: point?.middle ?? 0,
      delay: 65_536,
    }
    const told = feedbackOf(receiverReport(block), pictureLoss(5), estimatedBitrate(5, 2_500_000))
    expect(told).toEqual([
      ['block', { ssrc: 5, lost: 3 / 256, lastReport: report.readUInt32BE(10), delay: 65_536 }],
      ['key frame'],
      ['bitrate', expect.closeTo(2_500_000, -2)],
    ])
  })

  test('asks for the round trip, once in a compound packet', () => {
    const time = Buffer.from('80cf0004' + '00000009' + '04000002' + 'aabbccdd11223344', 'hex')
    const other = Buffer.from('80cf0003' + '00000009' + '01000001' + '00000000', 'hex')
    const lying = Buffer.from('80cf0002' + '00000009' + '04000009', 'hex')
    expect(feedbackOf(other, pictureLoss(5), time, time)).toEqual([['key frame'], ['reference time', 9, 0xccdd1122]])
    expect(feedbackOf(lying)).toEqual([])
    // Type, one block for the requester: its timestamp, and a delay of zero.
    const answer = referenceTimeAnswer(1, 9, 0xccdd1122)
    expect(answer.toString('hex')).toBe('80cf0005' + '00000001' + '05000003' + '00000009' + 'ccdd1122' + '00000000')
  })

  test('packs 17 missing packets into an item', () => {
    const packet = negativeAcknowledgement(5, [65_535, 0, 15, 16])
    expect(packet.subarray(12).toString('hex')).toBe('ffff8001' + '00100000')
    expect(feedbackOf(packet)).toEqual([65_535, 0, 15, 16].map((sequence) => ['missing', 5, sequence]))
  })

  test('answers a request for too many packets with a thousand of them', () => {
    const all = Array.from({ length: 5_000 }, (_, sequence) => sequence)
    expect(feedbackOf(negativeAcknowledgement(5, all))).toHaveLength(1_000)
  })

  test('never makes a reader throw, whatever a compound packet contains', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
        const compound = Buffer.from(bytes)
        eachReport(compound, (_type, _count, offset, length) => {
          expect(offset + length).toBeLessThanOrEqual(compound.length)
        })
        clockPointOf(compound)
        feedbackOf(compound)
      }),
      { numRuns: 2_000 },
    )
  })
})

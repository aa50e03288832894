import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Sink } from '../../../../server/media/feeds/fan-out.ts'
import { Feed } from '../../../../server/media/feeds/feed.ts'
import { Retransmission } from '../../../../server/media/webrtc/retransmission.ts'
import { SentVideo } from '../../../../server/media/webrtc/sent-video.ts'
import {
  address,
  headerLength,
  sequenceOf,
  timestampOf,
  withSendTime,
  writeSendTime,
} from '../../../../server/media/rtp/packet.ts'
import { delta, idr, rtp } from '../rtp/packets.ts'

function feed(cached: boolean): Feed {
  const video = { codec: 'H264', profileLevelId: '42e01f', parameterSets: '' } as const
  return new Feed({ video, audio: undefined, cached, requestKeyFrame: () => {} })
}

/** Writes its own values into the packet, as every viewer does. */
const careless: Sink = {
  video: (loan) => {
    loan.lend((packet) => {
      packet.writeUInt16BE(7, 2)
      address(packet, 102, 5)
      writeSendTime(packet, 3, 1_000)
    }, undefined)
  },
  audio: () => {},
  report: () => {},
  ended: () => {},
  failed: (error) => {
    throw new Error('a sink failed', { cause: error })
  },
}

describe('the history of sent packets', () => {
  test('is stored once for all viewers, unchanged, for the last thousand packets', () => {
    const source = feed(false)
    source.pushVideo(rtp(65_000, 1, idr))
    expect(source.sentVideo(65_000)).toBeUndefined()
    source.add(careless)
    source.add({ ...careless })
    for (let i = 1; i <= 2_000; i++) source.pushVideo(rtp(65_000 + i, i, delta))
    const number = (i: number): number => (65_000 + i) & 0xffff
    expect(source.sentVideo(number(976))).toBeUndefined()
    for (const i of [977, 1_500, 2_000]) {
      const packet = Buffer.from(source.sentVideo(number(i)) ?? [])
      expect([sequenceOf(packet), timestampOf(packet), [...packet.subarray(headerLength(packet))]]).toEqual([
        number(i),
        i,
        delta,
      ])
    }
  })

  test('is not kept of a user whose picture a host has muted, nor without viewers', () => {
    const source = feed(false)
    source.add(careless)
    source.pushVideo(rtp(1, 1, idr))
    source.videoMuted = true
    source.pushVideo(rtp(2, 2, delta))
    expect([1, 2].map((sequence) => source.sentVideo(sequence) !== undefined)).toEqual([true, false])
    source.remove(careless)
    expect(source.sentVideo(1)).toBeUndefined()
  })

  test('of a camera reaches back to the last key frame, even if the camera itself lost packets', () => {
    const source = feed(true)
    for (const sequence of [10, 11, 14, 15, 20])
      source.pushVideo(rtp(sequence, sequence, sequence === 10 ? idr : delta))
    const found = [9, 10, 11, 12, 14, 15, 19, 20, 21].filter((sequence) => source.sentVideo(sequence) !== undefined)
    expect(found).toEqual([10, 11, 14, 15, 20])
  })
})

describe('the send time', () => {
  test('replaces any extension of a packet, in seconds as 6.18 fixed point', () => {
    const came = Buffer.concat([rtp(9, 90, []), Buffer.from([0xab, 0xac, 0, 1, 1, 2, 3, 4]), Buffer.from(idr)])
    came[0] = 0x90
    const packet = withSendTime(came)
    expect([sequenceOf(packet), timestampOf(packet), [...packet.subarray(headerLength(packet))]]).toEqual([9, 90, idr])
    writeSendTime(packet, 3, 65_500)
    // 65.5 s modulo 64 s.
    expect(packet.subarray(12, 20).toString('hex')).toBe('bede0001' + '32' + '060000')
    writeSendTime(packet, 0, 65_500)
    expect(packet.subarray(12, 20).toString('hex')).toBe('bede0001' + '00000000')
    expect(withSendTime(rtp(9, 90, idr)).subarray(20)).toEqual(Buffer.from(idr))
  })
})

describe('the sequence numbers of a viewer', () => {
  test('continue without a gap from one feed to another, and each maps back to its packet', () => {
    const [large, small] = [feed(true), feed(true)]
    const sent = new SentVideo()
    sent.begin(large, 65_534)
    expect([65_534, 65_535, 0].map((sequence) => sent.number(sequence))).toEqual([65_534, 65_535, 0])
    sent.begin(small, 500)
    expect([500, 501, 503].map((sequence) => sent.number(sequence))).toEqual([1, 2, 4])
    sent.begin(large, 90)
    expect(sent.number(90)).toBe(5)
    // It came late: the viewer has another packet under that number.
    expect(sent.number(89)).toBe(-1)
    const origin = (number: number): [Feed | undefined, number] => {
      const run = sent.runOf(number)
      return [run?.feed, (number - (run?.ahead ?? 0)) & 0xffff]
    }
    expect([65_534, 0, 1, 4, 5].map(origin)).toEqual([
      [large, 65_534],
      [large, 0],
      [small, 500],
      [small, 503],
      [large, 90],
    ])
    expect([65_533, 6, 30_000].map((number) => sent.runOf(number))).toEqual([undefined, undefined, undefined])
  })

  test('map back to the packet however long a feed runs, with loss and late packets', () => {
    fc.assert(
      fc.property(fc.nat(65_535), fc.infiniteStream(fc.integer({ min: 1, max: 400 })), (start, steps) => {
        const source = feed(false)
        const sent = new SentVideo()
        sent.begin(source, start)
        let sequence = start
        const wrong: number[] = []
        let first = true
        for (const step of steps.take(500)) {
          const late = (sequence - 1) & 0xffff
          const found = [sent.number(sequence), sent.number(late), sent.runOf(sequence)?.ahead]
          const expected = [sequence, first ? -1 : late, 0]
          first = false
          if (found.join() !== expected.join()) wrong.push(sequence)
          sequence = (sequence + step) & 0xffff
        }
        expect(wrong).toEqual([])
      }),
      { numRuns: 20 },
    )
  })

  test('count padding as empty packets, and the feed continues behind it with its gaps', () => {
    const source = feed(false)
    const sent = new SentVideo()
    sent.begin(source, 10)
    expect([sent.number(10), sent.padding(), sent.padding(), sent.number(11), sent.number(13), sent.padding()]).toEqual(
      [10, 11, 12, 13, 15, 16],
    )
    expect(sent.number(14)).toBe(17)
    expect(sent.number(12)).toBe(-1)
    const feeds = [10, 11, 12, 13, 15, 16, 17].map((number) => sent.runOf(number)?.feed)
    expect(feeds).toEqual([source, undefined, undefined, source, source, undefined, source])
    expect((15 - (sent.runOf(15)?.ahead ?? 0)) & 0xffff).toBe(13)
  })

  test('continue after a mute as long as the whole number range', () => {
    const source = feed(false)
    const sent = new SentVideo()
    sent.begin(source, 0)
    expect([0, 1, 50_000, 50_001, 49_999].map((sequence) => sent.number(sequence))).toEqual([
      0, 1, 50_000, 50_001, 49_999,
    ])
    expect(sent.runOf(50_000)).toMatchObject({ ahead: 0 })
  })
})

describe('retransmission', () => {
  test('happens once per round trip for each packet', () => {
    const retransmission = new Retransmission()
    for (let i = 0; i < 100; i++) retransmission.sent(1_000)
    retransmission.roundTrip = 200
    expect([0, 100, 199, 200, 399, 400].map((now) => retransmission.allows(7, 1_000, now))).toEqual([
      true,
      false,
      false,
      true,
      false,
      true,
    ])
    expect(retransmission.allows(8, 1_000, 400)).toBe(true)
  })

  test('takes at most a quarter of the sent bytes, and saves up at most a second of it', () => {
    const retransmission = new Retransmission()
    const again = (packets: number, now: number): number =>
      Array.from({ length: packets }, (_, i) => retransmission.allows(now + i, 1_000, now)).filter(Boolean).length
    for (let i = 0; i < 40; i++) retransmission.sent(1_000)
    expect(again(1_000, 0)).toBe(10)
    for (let second = 1; second <= 10; second++) {
      for (let i = 0; i < 200; i++) retransmission.sent(1_000)
      retransmission.tick(second * 1_000)
    }
    expect(again(1_000, 20_000)).toBe(50)
    for (let i = 0; i < 4; i++) retransmission.sent(1_000)
    expect(again(1_000, 30_000)).toBe(1)
  })
})

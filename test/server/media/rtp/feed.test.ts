import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PacketLoan, Sink } from '../../../../server/media/feeds/fan-out.ts'
import { Feed } from '../../../../server/media/feeds/feed.ts'
import { headerLength, isRtp, type SharedPacket, sequenceOf, timestampOf } from '../../../../server/media/rtp/packet.ts'
import { h264Content, h265Content, keyFrame } from '../../../../server/media/rtp/key-frame.ts'
import { vp8Content } from '../../../../server/media/rtp/vp8.ts'
import { Renumbering } from '../../../../server/media/rtp/renumber.ts'
import { GopBurst } from '../../../../server/media/webrtc/gop-burst.ts'
import { delta, idr, pps, rtp, sei, sps } from './packets.ts'

/** A viewer that collects the packets of a feed. */
class Seen implements Sink {
  readonly packets: Buffer[] = []
  overs = 0
  video(loan: PacketLoan): void {
    loan.lend((packet) => this.packets.push(Buffer.from(packet)), undefined)
  }
  audio(): void {
    this.packets.push(Buffer.alloc(0))
  }
  report(): void {
    // Ignores time.
  }
  ended(): void {
    this.overs += 1
  }
  failed(error: unknown): void {
    throw new Error('a sink failed', { cause: error })
  }
}

function camera(parameterSets = ''): Feed {
  return new Feed({
    video: { codec: 'H264', profileLevelId: '42e01f', parameterSets },
    audio: { codec: 'PCMU', clockRate: 8_000 },
    cached: true,
    requestKeyFrame: () => {
      // A camera accepts no keyframe requests.
    },
  })
}

const typesOf = (packets: readonly SharedPacket[]): number[] =>
  packets.map((packet) => (packet[headerLength(packet)] ?? 0) & 0x1f)

describe('a camera’s feed', () => {
  test('keeps the GOP since the last key frame, including its whole first picture', () => {
    const feed = camera()
    feed.pushVideo(rtp(1, 1_000, delta))
    expect(feed.gop).toEqual([])
    for (const [index, payload] of [sps, pps, sei, idr, idr].entries()) feed.pushVideo(rtp(2 + index, 2_000, payload))
    feed.pushVideo(rtp(7, 3_000, delta, { marker: true }))
    expect(typesOf(feed.gop)).toEqual([7, 8, 6, 5, 5, 1])
    expect(feed.gop.map(sequenceOf)).toEqual([2, 3, 4, 5, 6, 7])
    for (const [index, payload] of [sps, pps, idr].entries()) feed.pushVideo(rtp(8 + index, 4_000, payload))
    expect(typesOf(feed.gop)).toEqual([7, 8, 5])
    expect(feed.counts).toMatchObject({ keyFrames: 2, frames: 1 })
  })

  test('continues for the others when one viewer fails, and removes that viewer', () => {
    const feed = camera()
    const failures: unknown[] = []
    const broken = {
      video: () => {
        throw new Error('nobody foresaw this')
      },
      audio: () => {},
      report: () => {},
      ended: () => {},
      failed: (error: unknown) => void failures.push(error),
    }
    const seen = new Seen()
    feed.add(broken)
    feed.add(seen)
    feed.pushVideo(rtp(1, 1_000, idr))
    feed.pushVideo(rtp(2, 4_600, delta))
    expect(seen.packets).toHaveLength(2)
    expect(failures).toEqual([new Error('nobody foresaw this')])
    expect(feed.watchers).toBe(1)
    feed.end()
    expect(seen.overs).toBe(1)
  })

  test('drops a GOP that grows without end, and ends once for everybody', () => {
    const feed = camera()
    const [one, two] = [new Seen(), new Seen()]
    feed.add(one)
    feed.add(two)
    feed.pushVideo(rtp(0, 0, idr))
    for (let i = 1; i < 5_000; i++) feed.pushVideo(rtp(i, i, delta))
    expect(feed.gop).toEqual([])
    feed.videoMuted = true
    feed.pushVideo(rtp(5_000, 5_000, delta))
    expect(one.packets).toHaveLength(5_000)
    feed.end()
    feed.end()
    const late = new Seen()
    feed.add(late)
    expect([one.overs, two.overs, late.overs]).toEqual([1, 1, 1])
  })

  test('synchronises sound and picture by the camera’s clock', () => {
    const feed = camera()
    feed.pushVideo(rtp(1, 90_000, idr))
    feed.pushAudio(rtp(1, 8_000, [0], { payloadType: 0 }))
    const now = Date.now()
    feed.clock('video').reported({ ntp: 1_000_000, timestamp: 90_000, middle: 0 }, now)
    const seconds = (ticks: number, rate: number, ntp: number): number => ntp / 1000 - ticks / rate
    // Without a report, time follows the arrival of packets, on the same clock.
    const [reported, arrived] = [feed.clock('video').at(now), feed.clock('audio').at(now)]
    expect(arrived?.ntp).toBe(reported?.ntp)
    expect(Math.abs((arrived?.ntp ?? 0) - 1_000_000)).toBeLessThan(1_000)
    feed.clock('audio').reported({ ntp: 1_000_500, timestamp: 8_000, middle: 0 }, now)
    const [video, audio] = [feed.clock('video').at(now + 1_000), feed.clock('audio').at(now + 1_000)]
    expect(seconds(video?.timestamp ?? 0, 90_000, video?.ntp ?? 0)).toBeCloseTo(1_000 - 1, 2)
    expect(seconds(audio?.timestamp ?? 0, 8_000, audio?.ntp ?? 0)).toBeCloseTo(1_000.5 - 1, 2)
  })
})

describe('a viewer who joins late', () => {
  test('gets the GOP compressed up to the live picture, and later packets unchanged', () => {
    const feed = camera()
    for (let i = 0; i < 10; i++) feed.pushVideo(rtp(i, 900_000 + i * 6_000, i === 0 ? idr : delta))
    const burst = new GopBurst(feed.gop)
    const first = burst.take(feed.gop, 6) ?? []
    feed.pushVideo(rtp(10, 960_000, delta))
    const rest = burst.take(feed.gop, 6) ?? []
    const all = [...first, ...rest]
    expect(all.map(sequenceOf)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(all.map(timestampOf)).toEqual([...Array.from({ length: 10 }, (_, i) => 954_000 - (9 - i) * 90), 960_000])
    expect(rest).toHaveLength(5)
  })

  test('continues with the next GOP if one begins meanwhile, and is told if there is none', () => {
    const feed = camera()
    for (let i = 0; i < 10; i++) feed.pushVideo(rtp(i, 900_000 + i * 6_000, i === 0 ? idr : delta))
    const burst = new GopBurst(feed.gop)
    burst.take(feed.gop, 6)
    feed.pushVideo(rtp(10, 960_000, idr))
    feed.pushVideo(rtp(11, 966_000, delta))
    const rest = burst.take(feed.gop, 6) ?? []
    expect(rest.map(timestampOf)).toEqual([960_000, 966_000])
    expect(burst.take([], 6)).toBeUndefined()
  })

  test('never receives decreasing times or sequence numbers, in whichever chunks packets arrive', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ key: fc.boolean(), packets: fc.integer({ min: 1, max: 4 }) }), {
          minLength: 2,
          maxLength: 40,
        }),
        fc.integer({ min: 1, max: 7 }),
        fc.nat(30),
        (pictures, most, joinAt) => {
          const feed = camera()
          let sequence = 0
          const sent: Buffer[] = []
          let burst: GopBurst | undefined
          let caughtUp = false
          for (const [index, { key, packets }] of [{ key: true, packets: 1 }, ...pictures].entries()) {
            for (let i = 0; i < packets; i++) feed.pushVideo(rtp(sequence++, 10_000 + index * 3_000, key ? idr : delta))
            if (caughtUp) continue
            if (index >= joinAt) burst ??= new GopBurst(feed.gop)
            const slice = burst?.take(feed.gop, most)
            sent.push(...(slice ?? []))
            caughtUp = slice !== undefined && slice.length < most
          }
          const times = sent.map(timestampOf)
          expect(times).toEqual(times.toSorted((a, b) => a - b))
          const numbers = sent.map(sequenceOf)
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        },
      ),
    )
  })
})

describe('packets', () => {
  test('numbering has no gap when the source restarts, and keeps the gaps of loss', () => {
    const numbers = new Renumbering()
    const number = (sequence: number): number => {
      const packet = rtp(sequence, 0, [0])
      numbers.apply(packet)
      return sequenceOf(packet)
    }
    expect([65_534, 65_535, 1, 0, 2].map(number)).toEqual([65_534, 65_535, 1, 0, 2])
    expect([30_000, 30_001, 30_003].map(number)).toEqual([3, 4, 6])
  })

  test('numbering has no gap where packets were left out, with any loss or delay around them', () => {
    const numbers = new Renumbering()
    const number = (sequence: number): number => {
      const packet = rtp(sequence, 0, [0])
      numbers.apply(packet)
      return sequenceOf(packet)
    }
    const leaveOut = (sequence: number): boolean => numbers.leaveOut(rtp(sequence, 0, []))
    expect(number(100)).toBe(100)
    expect([101, 102, 103].map(leaveOut)).toEqual([true, true, true])
    expect([104, 105].map(number)).toEqual([101, 102])
    // 106 and 109 are late.
    expect(leaveOut(107)).toBe(true)
    expect(number(108)).toBe(104)
    expect(leaveOut(110)).toBe(true)
    expect([111, 106, 109, 112].map(number)).toEqual([106, 103, 105, 107])
    // Its number is already reserved, so it has to be forwarded.
    expect(number(114)).toBe(109)
    expect(leaveOut(113)).toBe(false)
    expect(number(113)).toBe(108)
    for (let sequence = 115; sequence < 200_000; sequence++) {
      const expected = (sequence - 5 - Math.floor((sequence - 115) / 40_000)) & 0xffff
      if (sequence % 40_000 === 114) expect(leaveOut(sequence)).toBe(true)
      else expect(number(sequence)).toBe(expected)
    }
  })

  test('key frames are recognised in every kind of packet', () => {
    const content = (payload: number[]): boolean => (h264Content(rtp(1, 1, payload)) & keyFrame) !== 0
    expect(content(idr)).toBe(true)
    expect(content([0x7c, 0x85, 1])).toBe(true)
    expect(content([0x7c, 0x05, 1])).toBe(false)
    expect(content([0x78, 0, 4, ...sps, 0, 2, ...idr])).toBe(true)
    expect(content([0x78, 0, 4, ...sps, 0, 2, ...delta])).toBe(false)
    expect((h265Content(rtp(1, 1, [0x26, 1, 0])) & keyFrame) !== 0).toBe(true)
    expect((h265Content(rtp(1, 1, [0x62, 1, 0x93])) & keyFrame) !== 0).toBe(true)
    expect(vp8Content(rtp(1, 1, [0x90, 0x80, 0x81, 0x23, 0x10]))).toBe(keyFrame)
    expect(vp8Content(rtp(1, 1, [0x10, 0x11]))).toBe(0)
  })

  test('no packet content makes a reader throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 12, maxLength: 80 }), (bytes) => {
        const packet = Buffer.from(bytes)
        packet[0] = ((packet[0] ?? 0) & 0x3f) | 0x80
        if (!isRtp(packet)) return
        expect(headerLength(packet)).toBeLessThanOrEqual(packet.length)
        for (const read of [h264Content, h265Content, vp8Content]) expect(read(packet)).toBeTypeOf('number')
      }),
      { numRuns: 2_000 },
    )
  })
})

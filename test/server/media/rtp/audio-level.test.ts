import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Sink } from '../../../../server/media/feeds/fan-out.ts'
import { Feed } from '../../../../server/media/feeds/feed.ts'
import {
  audioLevelOf,
  hasMarker,
  isRtp,
  sequenceOf,
  timestampOf,
  withoutExtension,
} from '../../../../server/media/rtp/packet.ts'
import { Renumbering } from '../../../../server/media/rtp/renumber.ts'
import { rtp } from './packets.ts'

/** Makes a packet with a header extension; its length in words must fit. */
function extended(profile: number, elements: readonly number[], contributing = 0): Buffer {
  const plain = rtp(5, 960, [1, 2, 3])
  plain[0] = 0x90 | contributing
  const extension = Buffer.alloc(4 + Math.ceil(elements.length / 4) * 4)
  extension.writeUInt16BE(profile, 0)
  extension.writeUInt16BE(Math.ceil(elements.length / 4), 2)
  extension.set(elements, 4)
  return Buffer.concat([plain.subarray(0, 12), Buffer.alloc(contributing * 4), extension, plain.subarray(12)])
}

describe('the audio level of a packet', () => {
  test.each([
    ['alone', 0xbede, [0x10, 0x80 | 33], 33],
    ['after another element and padding', 0xbede, [0x32, 1, 2, 3, 0, 0, 0x10, 45], 45],
    ['of two bytes', 0x1000, [3, 2, 9, 9, 0, 1, 1, 127], 127],
    ['without the element', 0xbede, [0x20, 4], -1],
    ['after the end of the elements', 0xbede, [0xf0, 0, 0x10, 4], -1],
    ['longer than the extension', 0xbede, [0x22, 1, 2, 3, 0, 0, 0, 0x10], -1],
    ['empty', 0x1000, [1, 0, 0, 0], -1],
    ['of an unknown form', 0x1234, [0x10, 5], -1],
  ])('%s', (_, profile, elements, level) => {
    expect(audioLevelOf(extended(profile, elements), 1)).toBe(level)
    expect(audioLevelOf(extended(profile, elements, 2), 1)).toBe(level)
  })

  test('is missing without an extension', () => {
    expect(audioLevelOf(rtp(1, 2, [3]), 1)).toBe(-1)
  })

  test('is a level or undefined for any packet content', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 12, maxLength: 60 }), fc.integer({ min: 1, max: 14 }), (bytes, id) => {
        const packet = Buffer.from(bytes)
        packet[0] = 0x90 | ((bytes[0] ?? 0) % 4)
        const at = 12 + ((bytes[0] ?? 0) % 4) * 4
        if (at + 2 <= packet.length) packet.writeUInt16BE((bytes[1] ?? 0) % 2 === 0 ? 0xbede : 0x1000, at)
        const level = audioLevelOf(packet, id)
        expect(level).toBeGreaterThanOrEqual(-1)
        expect(level).toBeLessThanOrEqual(127)
      }),
    )
  })

  test('is removed by the node', () => {
    const plain = withoutExtension(extended(0xbede, [0x10, 33], 3))
    expect(plain).toEqual(rtp(5, 960, [1, 2, 3]))
    expect(withoutExtension(rtp(1, 2, [3]))).toEqual(rtp(1, 2, [3]))
  })
})

describe('sound that is not forwarded', () => {
  test('leaves no gap in the sequence numbers, and later sound starts a talk spurt', () => {
    const feed = new Feed({
      video: undefined,
      audio: { codec: 'OPUS', clockRate: 48_000 },
      cached: false,
      requestKeyFrame: () => {},
    })
    const seen: Buffer[] = []
    const sink: Sink = {
      video: () => {},
      audio: (loan) => loan.lend((packet) => seen.push(Buffer.from(packet)), undefined),
      report: () => {},
      ended: () => {},
      failed: (error) => {
        throw new Error('the sink failed', { cause: error })
      },
    }
    feed.add(sink)
    feed.sound.passes = (level) => level !== 127
    for (let i = 0; i < 12; i++) feed.pushAudio(rtp(65_530 + i, i * 960, [i]), i >= 3 && i < 8 ? 127 : 30)
    expect(seen.map(sequenceOf)).toEqual([65_530, 65_531, 65_532, 65_533, 65_534, 65_535, 0])
    expect(seen.map(timestampOf)).toEqual([0, 1, 2, 8, 9, 10, 11].map((i) => i * 960))
    expect(seen.map(hasMarker)).toEqual([false, false, false, true, false, false, false])
    feed.remove(sink)
  })

  test('leaves late packets without a number, however long ago the pause was', () => {
    const numbers = new Renumbering()
    const numberOf = (sequence: number): number | undefined => {
      const packet = rtp(sequence, 0, [])
      expect(isRtp(packet)).toBe(true)
      return numbers.apply(packet) ? sequenceOf(packet) : undefined
    }
    expect([numberOf(1), numberOf(2)]).toEqual([1, 2])
    numbers.pause()
    expect([numberOf(10), numberOf(9), numberOf(11), numberOf(13), numberOf(12)]).toEqual([3, undefined, 4, 6, 5])
    // After a full cycle of sequence numbers no packet counts as late.
    const packet = rtp(0, 0, [])
    let wrong = 0
    for (let sequence = 14; sequence < 14 + 70_000; sequence++) {
      packet.writeUInt16BE(sequence & 0xffff, 2)
      if (!numbers.apply(packet) || sequenceOf(packet) !== ((sequence - 7) & 0xffff)) wrong += 1
    }
    expect(wrong).toBe(0)
  })
})

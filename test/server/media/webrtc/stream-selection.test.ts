import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PictureStream } from '../../../../server/media/feeds/feed.ts'
import { affordableStream, allowedIndex, wantedIndex } from '../../../../server/media/webrtc/stream-selection.ts'

const stream = (height: number, bitrate = 0): PictureStream => ({
  height,
  bitrate,
  feed: undefined,
  acquire: async () => undefined,
})
const three = [stream(720, 1_700_000), stream(360, 500_000), stream(180, 150_000)] as const
const [large, middle, small] = three

describe('the stream for a viewer', () => {
  test.each([
    [Infinity, 0],
    [1_080, 0],
    [600, 0],
    [440, 1],
    [300, 1],
    [220, 2],
    [90, 2],
  ])('shown at %i pixels it is number %i', (height, index) => {
    expect(wantedIndex(three, height, undefined)).toBe(index)
  })

  test('stays while it is nearly large enough, so that a tile may change a little', () => {
    for (const height of [445, 455, 500, 545]) expect(wantedIndex(three, height, middle)).toBe(1)
    for (const height of [455, 500, 545]) expect(wantedIndex(three, height, large)).toBe(0)
    expect(wantedIndex(three, 560, middle)).toBe(0)
  })

  test("is a camera's hidden substream only for a small tile", () => {
    const camera = [stream(1_080), stream(0)]
    expect([1_080, 500, 300].map((height) => wantedIndex(camera, height, undefined))).toEqual([0, 0, 1])
    expect(wantedIndex([stream(0), stream(0)], 100, undefined)).toBe(0)
  })

  test('grows with the tile', () => {
    const lists = fc
      .array(fc.integer({ min: 0, max: 4_320 }), { minLength: 1, maxLength: 3 })
      .map((heights) => heights.toSorted((a, b) => b - a).map((height) => stream(height)))
    fc.assert(
      fc.property(lists, fc.nat(5_000), fc.nat(5_000), (list, one, other) => {
        const [smaller, larger] = [Math.min(one, other), Math.max(one, other)]
        const [first, second] = [wantedIndex(list, larger, undefined), wantedIndex(list, smaller, undefined)]
        expect(first).toBeLessThanOrEqual(second)
        expect(second).toBeLessThan(list.length)
      }),
    )
  })
})

describe('the stream for a link', () => {
  test('is the largest that fits, or the smallest if none does', () => {
    expect(affordableStream(three, 2_000_000)).toBe(large)
    expect(affordableStream(three, 600_000)).toBe(middle)
    expect(affordableStream(three, 100_000)).toBe(small)
    expect(affordableStream([stream(720), small], 200_000)).toBe(small)
    expect(affordableStream([], 1)).toBeUndefined()
  })

  test('is the next smaller one if that is no longer sent', () => {
    expect([undefined, ...three].map((most) => allowedIndex(three, most))).toEqual([0, 0, 1, 2])
    expect(allowedIndex([large, small], middle)).toBe(1)
    expect(allowedIndex([large], small)).toBe(0)
  })
})

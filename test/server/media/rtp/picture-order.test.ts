import { expect, test } from 'vitest'
import { PictureOrder } from '../../../../server/media/feeds/camera-feed.ts'
import { delta, rtp } from './packets.ts'

/** Tells whether pictures with these timestamps, two packets each, count as B-frames. */
function reordered(timestamps: readonly number[], numbers = (i: number): number => i): boolean {
  const order = new PictureOrder()
  for (const [i, timestamp] of timestamps.entries()) {
    for (const part of [0, 1]) order.note(rtp(numbers(2 * i + part), timestamp >>> 0, delta))
  }
  return order.reordered
}

const picture = 3_600
const pictures = Array.from({ length: 60 }, (_, i) => i)

test('pictures shown before an earlier one are B-frames', () => {
  // I P B B P B B: each P is sent before the two that are shown ahead of it.
  const groups = pictures.slice(0, 20).flatMap((i) => [3 * i + 3, 3 * i + 1, 3 * i + 2])
  expect(reordered(groups.map((i) => i * picture))).toBe(true)
  // Also around the 32-bit wrap.
  expect(reordered(groups.map((i) => 2 ** 32 - 20 * picture + i * picture))).toBe(true)
})

test("the camera's order, a clock that was set, and reordered packets are not B-frames", () => {
  expect(reordered(pictures.map((i) => i * picture))).toBe(false)
  expect(reordered(pictures.map((i) => 2 ** 32 - 20 * picture + i * picture))).toBe(false)
  expect(reordered(pictures.map((i) => (i > 30 ? i * picture - 90_000 : i * picture)))).toBe(false)
  const swapped = pictures.map((i) => (i % 2 === 0 ? i + 1 : i - 1))
  expect(
    reordered(
      swapped.map((i) => i * picture),
      (packet) => 2 * (swapped[packet >> 1] ?? 0) + (packet & 1),
    ),
  ).toBe(false)
})

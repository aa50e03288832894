import { expect, test } from 'vitest'
import { StrayTimestamps } from '../../../../server/media/clean/clean-media.ts'
import { timestampOf } from '../../../../server/media/rtp/packet.ts'
import { rtp } from '../rtp/packets.ts'

const step = 3_600
const hours = 9_800 * 90_000

/** Timestamps after the correction of frames of 25 a second, each of two packets. @param pausedMs before a frame, beyond its 40 ms */
function corrected(
  timestamps: readonly number[],
  pausedMs: (frame: number) => number = () => 0,
  ssrc: (frame: number) => number = () => 7,
): number[] {
  let at = 0
  const times = new StrayTimestamps(90_000, () => at)
  return timestamps.map((timestamp, frame) => {
    at += 40 + pausedMs(frame)
    const packets = [0, 1].map((part) => rtp(2 * frame + part, timestamp, [1], { ssrc: ssrc(frame) }))
    for (const packet of packets) times.correct(packet)
    const [first = 0, second = 0] = packets.map(timestampOf)
    expect(second).toBe(first)
    return first
  })
}
const steady = (frames: number, from = 0): number[] =>
  Array.from({ length: frames }, (_, frame) => (from + frame * step) >>> 0)

test('frames in time keep their timestamps, across the wrap, in decoding order, and after a pause', () => {
  const wrapping = steady(20, 2 ** 32 - 5 * step)
  expect(corrected(wrapping)).toEqual(wrapping)
  const reordered = [0, 3, 1, 2, 6, 4, 5, 9].map((place) => place * step)
  expect(corrected(reordered)).toEqual(reordered)
  const paused = [...steady(5), ...steady(5, 600 * 90_000)]
  expect(corrected(paused, (frame) => (frame === 5 ? 600_000 : 0))).toEqual(paused)
})

test.each([-hours, hours, 37_600 * 90_000, -3 * 90_000])(
  'a frame %i ticks away gets the expected timestamp',
  (away) => {
    const wrong = steady(40).map((timestamp, frame) => (frame % 10 === 7 ? timestamp + away : timestamp) >>> 0)
    expect(corrected(wrong)).toEqual(steady(40))
  },
)

test('a clock that was set is followed from the third frame on', () => {
  const set = [...steady(10), ...steady(10, hours)]
  expect(corrected(set)).toEqual([...steady(12), ...steady(8, hours + 2 * step)])
})

test('another source has its own time', () => {
  const restarted = [...steady(5), ...steady(5, hours)]
  expect(
    corrected(
      restarted,
      () => 0,
      (frame) => (frame < 5 ? 7 : 8),
    ),
  ).toEqual(restarted)
})

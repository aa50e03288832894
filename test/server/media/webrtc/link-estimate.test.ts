import { beforeEach, describe, expect, test } from 'vitest'
import { LinkEstimate } from '../../../../server/media/webrtc/link-estimate.ts'

let estimate: LinkEstimate
/** State of the node's event loop delay. */
const delay = { high: false }
let now: number
let number: number

beforeEach(() => {
  now = 0
  number = 0
  delay.high = false
  estimate = new LinkEstimate(0, delay)
})

/** Passes this many milliseconds at 2 Mbit/s with a share of losses, and runs something every 100 ms. Returns the time at which the link was first found too small. */
function pass(
  ms: number,
  { missed = 0, each = () => {} }: { missed?: number; each?: () => void } = {},
): number | undefined {
  let found: number | undefined
  for (const end = now + ms; now < end; now += 4) {
    estimate.sent(1_000)
    number += 1
    if ((number * missed) % 1 < missed) estimate.onMissing(number & 0xffff, now)
    if (now % 100 === 0) each()
    if (found === undefined && estimate.tooSmall(now)) found = now
  }
  return found
}

describe('a link', () => {
  test('is too small within half a second if the viewer’s estimate falls and many packets are lost', () => {
    pass(2_000, { each: () => estimate.onBitrate(2_500_000, now) })
    const began = now
    let bitrate = 1_200_000
    const each = (): void => estimate.onBitrate((bitrate *= 0.85), now)
    const found = pass(2_000, { missed: 0.6, each })
    expect(found).toBeDefined()
    expect((found ?? 0) - began).toBeLessThan(500)
  })

  test('is too small at once if most of an interval is lost and the estimate falls', () => {
    pass(2_000, { each: () => estimate.onBitrate(2_500_000, now) })
    const began = now
    estimate.onBitrate(1_200_000, now)
    const found = pass(500, { missed: 0.7 })
    expect((found ?? Infinity) - began).toBeLessThan(120)
  })

  test('is too small without loss if the estimate keeps falling: its queue is long', () => {
    let bitrate = 1_500_000
    const found = pass(4_000, { each: () => estimate.onBitrate((bitrate *= 0.96), now) })
    expect(found).toBeGreaterThan(1_000)
    expect(found).toBeLessThan(3_000)
  })

  test('is not too small if the estimate falls and round trips stay short: the browser lacks processor time', () => {
    let bitrate = 1_500_000
    const falls = (roundTrip: number) => () => {
      estimate.onBitrate((bitrate *= 0.96), now)
      estimate.onRoundTrip(roundTrip, now)
    }
    expect(pass(4_000, { each: falls(20) })).toBeUndefined()
    // The same with a queue.
    bitrate = 1_500_000
    expect(pass(4_000, { each: falls(220) })).toBeDefined()
  })

  test('is not blamed for delays while the node itself is late; losses still count', () => {
    delay.high = true
    let bitrate = 1_500_000
    const each = (): void => estimate.onBitrate((bitrate *= 0.96), now)
    expect(pass(6_000, { each })).toBeUndefined()
    expect(pass(2_000, { missed: 0.6, each })).toBeDefined()
  })

  test('is blamed again once the node is in time, and delays still grow', () => {
    delay.high = true
    let bitrate = 1_500_000
    const each = (): void => estimate.onBitrate((bitrate *= 0.96), now)
    expect(pass(6_000, { each })).toBeUndefined()
    delay.high = false
    expect(pass(900, { each })).toBeUndefined()
    expect(pass(900, { each })).toBeDefined()
  })

  test('is too small if many packets are lost all the time, whatever the estimate', () => {
    const found = pass(3_000, { missed: 0.5, each: () => estimate.onLoss(0.5, now) })
    expect(found).toBeGreaterThan(900)
    expect(found).toBeLessThan(1_500)
  })

  test('is not too small after random loss, after one drop of the estimate, or after both at different times', () => {
    pass(1_000, { each: () => estimate.onBitrate(2_500_000, now) })
    expect(pass(5_000, { missed: 0.1, each: () => estimate.onLoss(0.1, now) })).toBeUndefined()
    estimate.onBitrate(1_700_000, now)
    expect(pass(3_000)).toBeUndefined()
    expect(pass(600, { missed: 0.6 })).toBeUndefined()
    expect(estimate.strained(now - 1_000)).toBe(true)
    expect(pass(3_000, { each: () => estimate.onLoss(0, now) })).toBeUndefined()
  })

  test('is not too small if a tenth is lost and the estimate falls to most of the received rate', () => {
    pass(1_000, { each: () => estimate.onBitrate(2_500_000, now) })
    let bitrate = 1_600_000
    const each = (): void => estimate.onBitrate((bitrate *= now % 1_500 === 0 ? 0.965 : 1), now)
    expect(pass(4_000, { missed: 0.1, each })).toBeUndefined()
  })

  test('is judged again after a change of stream: the first reports still describe the previous one', () => {
    pass(1_000, { each: () => estimate.onBitrate(2_500_000, now) })
    estimate.restart(now, 1_000)
    const each = (): void => {
      estimate.onBitrate(500_000, now)
      estimate.onLoss(0.8, now)
    }
    expect(pass(1_000, { missed: 0.8, each })).toBeUndefined()
    expect(pass(3_000, { each: () => estimate.onLoss(0, now) })).toBeUndefined()
    expect(estimate.strained(0)).toBe(false)
  })

  test('has a sent rate in which a repeatedly requested packet counts once', () => {
    pass(2_000)
    expect(estimate.rate(now)).toBeCloseTo(2_000_000, -5)
    for (let i = 0; i < 50; i++) for (const missing of [65_534, 65_535, 0, 1]) estimate.onMissing(missing, now)
    expect(estimate.counts).toEqual({ bytes: 500_000, packets: 500, missed: 4 })
  })
})

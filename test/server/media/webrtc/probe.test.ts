import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Lifetime } from '../../../../server/media/base/lifetime.ts'
import { LinkEstimate } from '../../../../server/media/webrtc/link-estimate.ts'
import { LinkProbe } from '../../../../server/media/webrtc/link-probe.ts'

beforeEach(() => void vi.useFakeTimers())

/**
 * Probes a link from 400 kbit/s to 1.6 Mbit/s for ten seconds, with a viewer whose estimate was 300 kbit/s at the start. Returns whether the link
 * has that capacity; undefined while unknown.
 * @param roundTrip round trip in a report at this sending rate in bit/s; undefined: the viewer reports nothing
 * @param estimated estimate of the viewer after this many milliseconds
 */
function tried(
  roundTrip: (rate: number) => number | undefined,
  estimated: (milliseconds: number) => number,
): boolean | undefined {
  const estimate = new LinkEstimate(performance.now(), { high: false })
  let carries: boolean | undefined
  const began = performance.now()
  estimate.onRoundTrip(20, began)
  estimate.onBitrate(300_000, began)
  const probe = new LinkProbe({
    from: 400_000,
    to: 1_600_000,
    estimate,
    sendPadding: () => {
      estimate.sent(300)
      return 300
    },
    measure: () => {
      const now = performance.now()
      estimate.onBitrate(estimated(now - began), now)
      const measured = roundTrip(estimate.rate(now))
      if (measured !== undefined) estimate.onRoundTrip(measured, now)
    },
    lifetime: new Lifetime(() => {}),
    done: (found) => void (carries = found),
  })
  vi.advanceTimersByTime(10_000)
  probe.stop()
  return carries
}

/** Estimate that a browser holds for seconds after it fell. */
const held = (): number => 300_000

describe('a link is found to have more capacity', () => {
  test('while the viewer’s estimate rises', () => {
    expect(
      tried(
        () => undefined,
        (milliseconds) => 300_000 + milliseconds * 50,
      ),
    ).toBe(true)
  })

  test('although the viewer holds a fallen estimate, if its queue stays short', () => {
    expect(tried(() => 22, held)).toBe(true)
  })
})

describe('a link is not found to have more capacity', () => {
  test('if the estimate is held and nothing is known of its queue', () => {
    expect(tried(() => undefined, held)).toBe(false)
  })

  test('if its queue grows with the sending rate', () => {
    expect(tried((rate) => (rate > 600_000 ? 20 + (rate - 600_000) / 5_000 : 20), held)).toBe(false)
  })
})

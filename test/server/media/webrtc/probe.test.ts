import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Lifetime } from '../../../../server/media/base/lifetime.ts'
import { LinkEstimate } from '../../../../server/media/webrtc/link-estimate.ts'
import { LinkProbe } from '../../../../server/media/webrtc/link-probe.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/**
 * Tries a link from 400 kbit/s to 1.6 Mbit/s for ten seconds, with a viewer whose estimate was 300 kbit/s when it began. Returns whether the link is found to
 * carry that; undefined while it is not known.
 * @param roundTrip what a report tells when so many bits a second are sent; undefined: the viewer reports nothing
 * @param estimated what the viewer estimates after so many milliseconds
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

/** Seconds after it fell a browser holds its estimate. */
const held = (): number => 300_000

describe('a link is found to carry more', () => {
  test('while the viewer’s estimate rises', () => {
    expect(
      tried(
        () => undefined,
        (milliseconds) => 300_000 + milliseconds * 50,
      ),
    ).toBe(true)
  })

  test('although the viewer holds an estimate that fell, where its queue stays as short as it was', () => {
    expect(tried(() => 22, held)).toBe(true)
  })
})

describe('a link is not', () => {
  test('where the estimate is held and nothing is known of its queue', () => {
    expect(tried(() => undefined, held)).toBe(false)
  })

  test('where its queue grows with what is sent', () => {
    expect(tried((rate) => (rate > 600_000 ? 20 + (rate - 600_000) / 5_000 : 20), held)).toBe(false)
  })
})

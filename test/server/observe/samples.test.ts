import fc from 'fast-check'
import { beforeEach, expect, test, vi } from 'vitest'
import { LatencyHistogram, Samples } from '../../../server/observe/samples.ts'
import { observers } from '../../../server/observe/observation.ts'
import { sample } from '../../../shared/console/site.ts'
import { observation } from './observation.ts'

beforeEach(() => void vi.useFakeTimers())

test('every five seconds a sample covers the events since the last one', () => {
  const samples = new Samples({ people: () => 3, devices: () => 2 })
  const told: unknown[] = []
  samples.onSample((point) => void told.push(point))
  for (let i = 0; i < 99; i++) samples.observe(observation({ duration: 2 }))
  samples.observe(observation({ api: 'device', ret: 426, duration: 500 }))
  vi.advanceTimersByTime(10_000)
  const [first, second] = samples.list().map((point) => sample.parse(point))
  expect(first).toMatchObject({ media_requests: 99, device_requests: 1, failures: { 426: 1 }, people: 3, devices: 2 })
  expect(first?.seconds).toBeCloseTo(5, 1)
  expect(first?.p50).toBeGreaterThan(1.8)
  expect(first?.p50).toBeLessThan(2.3)
  expect(second).toMatchObject({ media_requests: 0, failures: {}, p50: 0, p99: 0 })
  expect(told).toEqual([first, second])
  samples.close()
  vi.advanceTimersByTime(10_000)
  expect(samples.list()).toHaveLength(2)
})

test('samples reach 15 minutes back', () => {
  const samples = new Samples({ people: () => 0, devices: () => 0 })
  vi.advanceTimersByTime(3_600_000)
  const points = samples.list()
  expect(points).toHaveLength(180)
  expect((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0)).toBe(179 * 5_000)
  samples.close()
})

test('property: a percentile is within a tenth of the exact one', () => {
  const times = fc.array(fc.double({ min: 0.02, max: 50_000, noNaN: true }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(times, fc.constantFrom(0.5, 0.9, 0.99, 1), (milliseconds, share) => {
      const histogram = new LatencyHistogram()
      for (const time of milliseconds) histogram.add(time)
      const exact = [...milliseconds].sort((a, b) => a - b)[Math.ceil(milliseconds.length * share) - 1] ?? 0
      const got = histogram.percentile(share)
      return got >= exact * 0.98 && got <= exact * 1.1 + 0.001
    }),
  )
})

test('one observer feeds several samplers', () => {
  const rets: number[] = []
  const note = { observe: ({ ret }: { ret: number }) => void rets.push(ret) }
  observers(note, note).observe(observation({ ret: 7 }))
  expect(rets).toEqual([7, 7])
})

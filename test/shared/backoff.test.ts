import { expect, test } from 'vitest'
import { type Backoff, backoffMs } from '../../shared/backoff.ts'

const waits = (backoff: Backoff, random?: () => number): number[] =>
  Array.from({ length: 8 }, (_, index) => backoffMs(backoff, index + 1, random))

test('Each delay is twice the previous one, up to the maximum', () => {
  expect(waits({ first: 100, max: 1_000 })).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000])
  expect(backoffMs({ first: 100, max: 1_000 }, 0)).toBe(100)
  expect(backoffMs({ first: 100, max: 30_000 }, 1e9)).toBe(30_000)
})

test('Another factor, and repeated delays', () => {
  expect(waits({ first: 100, max: 1_000, factor: 3 }).slice(0, 4)).toEqual([100, 300, 900, 1_000])
  expect(waits({ first: 1_000, max: 3_000, repeat: 2 }).slice(0, 6)).toEqual([1_000, 1_000, 2_000, 2_000, 3_000, 3_000])
})

test('Jitter spreads the delays and never exceeds the maximum', () => {
  expect(waits({ first: 100, max: 400, jitter: 0.1 }, () => 1)).toEqual([110, 220, 360, 360, 360, 360, 360, 360])
  expect(waits({ first: 100, max: 205, jitter: 0.1 }, () => 1).slice(0, 2)).toEqual([110, 205])
  expect(waits({ first: 100, max: 400, jitter: 0.1 }, () => 0).slice(0, 4)).toEqual([100, 200, 400, 400])
})

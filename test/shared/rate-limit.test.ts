import { expect, test } from 'vitest'
import { RateLimit } from '../../shared/rate-limit.ts'

function limited(max: number | (() => number), remembered?: number) {
  const time = { now: 0 }
  const options = { max, windowMs: 1_000, now: () => time.now }
  return { time, limit: new RateLimit(remembered === undefined ? options : { ...options, remembered }) }
}

test('A key has a limited number of uses in a window that begins with its first use, and then starts again', () => {
  const { time, limit } = limited(2)
  expect([limit.take('a'), limit.take('a'), limit.take('a')]).toEqual([true, true, false])
  expect(limit.take('b')).toBe(true)
  time.now = 999
  expect(limit.reached('a')).toBe(true)
  expect(limit.retryAfterMs('a')).toBe(1)
  expect(limit.reached('b')).toBe(false)
  expect(limit.retryAfterMs('b')).toBe(0)
  time.now = 1_000
  expect(limit.reached('a')).toBe(false)
  expect(limit.take('a')).toBe(true)
})

test('A setting applies at once, and 0 means no limit', () => {
  let most = 1
  const { limit } = limited(() => most)
  limit.take('a')
  expect(limit.reached('a')).toBe(true)
  most = 2
  expect(limit.reached('a')).toBe(false)
  most = 0
  for (let i = 0; i < 100; i++) expect(limit.take('a')).toBe(true)
  expect(limit.reached('a')).toBe(false)
})

test('The number of stored keys is bounded: the least recently used one is forgotten', () => {
  const { limit } = limited(1, 3)
  for (const key of ['a', 'b', 'c', 'd']) limit.take(key)
  expect(['a', 'b', 'c', 'd'].map((key) => limit.reached(key))).toEqual([false, true, true, true])
  limit.take('b')
  limit.take('e')
  limit.take('f')
  expect(['b', 'c', 'd', 'e', 'f'].map((key) => limit.reached(key))).toEqual([true, false, false, true, true])
})

test('Forgetting a client frees a place, in any order', () => {
  const { limit } = limited(1, 3)
  for (const key of ['a', 'b', 'c']) limit.take(key)
  for (const key of ['a', 'b', 'c']) limit.forget(key)
  for (const key of ['c', 'b', 'a', 'x', 'y']) limit.take(key)
  expect(['c', 'b', 'a', 'x', 'y'].map((key) => limit.reached(key))).toEqual([false, false, true, true, true])
})

test('A flood of new keys costs the same for each: 200,000 keys in a memory of 10,000', () => {
  const { limit } = limited(1)
  /** Milliseconds of the processor: others may have it meanwhile. */
  const took = (from: number): number => {
    const began = process.cpuUsage()
    for (let i = from; i < from + 100_000; i++) limit.take(String(i))
    const { user, system } = process.cpuUsage(began)
    return (user + system) / 1_000
  }
  took(0)
  expect(took(100_000)).toBeLessThan(1_000)
  expect(limit.reached('199999')).toBe(true)
  expect(limit.reached('189999')).toBe(false)
  expect(limit.reached('190000')).toBe(true)
})

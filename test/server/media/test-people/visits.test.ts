import { expect, test } from 'vitest'
import { type Visit, visitsOf } from '../../../../server/media/test-people/test-person.ts'
import { parseArrival } from '../../../../shared/media/test-people.ts'

/** First visits of some people. */
function visits(arrive: string, { people = 4, seed = 1, count = 1 } = {}): Visit[][] {
  return Array.from({ length: people }, (_, index) => {
    const first: Visit[] = []
    for (const visit of visitsOf({ arrive, people, seed }, index + 1)) if (first.push(visit) === count) break
    return first
  })
}

test('people arrive at once, evenly, or at random within the time, and stay', () => {
  expect(visits('at-once').flat()).toEqual(Array(4).fill({ afterMs: 0, stayMs: undefined }))
  expect(visits('evenly=8').map(([visit]) => visit?.afterMs)).toEqual([0, 2_000, 4_000, 6_000])
  const random = visits('random=8', { people: 50 }).map(([visit]) => visit?.afterMs ?? -1)
  expect(Math.min(...random)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...random)).toBeLessThan(8_000)
  // Two people may arrive in the same millisecond.
  expect(new Set(random).size).toBeGreaterThan(40)
})

test('comings and goings are the same for a seed, and others for another one', () => {
  const first = visits('come-and-go=60', { count: 5 })
  expect(first).toEqual(visits('come-and-go=60', { count: 5 }))
  expect(first).not.toEqual(visits('come-and-go=60', { count: 5, seed: 2 }))
  for (const { stayMs = 0 } of first.flat()) {
    expect(stayMs).toBeGreaterThanOrEqual(30_000)
    expect(stayMs).toBeLessThanOrEqual(90_000)
    // Timers of the platform take whole milliseconds only.
    expect(stayMs).toBe(Math.round(stayMs))
  }
})

test('patterns without a meaning are refused', () => {
  expect(parseArrival('evenly=30')).toEqual({ kind: 'evenly', seconds: 30 })
  for (const wrong of ['', 'evenly', 'evenly=0', 'at-once=1', 'random=86401', 'come-and-go=1', 'evenly=1.5'])
    expect(parseArrival(wrong), wrong).toBeUndefined()
})

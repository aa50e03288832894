import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arrange, type Place, tileRatio } from '../../../renderer/room-page/layout/arrange.ts'
import { bestFit } from '../../../renderer/kit/media/best-fit.ts'

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `p${index}`)
const overlap = (one: Place, other: Place): boolean =>
  one.left < other.left + other.width &&
  other.left < one.left + one.width &&
  one.top < other.top + other.height &&
  other.top < one.top + one.height

describe('the best grid', () => {
  test.each([
    [1, 1_280, 720, 1, 1],
    [2, 1_280, 720, 2, 1],
    [4, 1_280, 720, 2, 2],
    [9, 1_280, 720, 3, 3],
    [2, 390, 700, 1, 2],
    [8, 390, 700, 2, 4],
  ])('%i tiles in %i by %i: %i columns, %i rows', (count, width, height, columns, rows) => {
    expect(bestFit(count, width, height, tileRatio, 8)).toMatchObject({ columns, rows })
  })
})

describe('a stage', () => {
  test('for every window size and number of users, all tiles are inside and none covers another', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 280, max: 3_000 }),
        fc.integer({ min: 200, max: 2_000 }),
        fc.integer({ min: 1, max: 100 }),
        fc.boolean(),
        (width, height, count, large) => {
          const ids = idsOf(count)
          const { places, more, hidden } = arrange(width, height, ids, large ? 'p0' : null)
          const all = [...places.values(), ...(more === null ? [] : [more])]
          expect(places.size + hidden).toBe(count)
          expect(more === null).toBe(hidden === 0)
          for (const [index, place] of all.entries()) {
            expect(place.width).toBeGreaterThan(0)
            expect(place.height).toBeGreaterThan(0)
            expect(place.left).toBeGreaterThanOrEqual(-1)
            expect(place.top).toBeGreaterThanOrEqual(-1)
            expect(place.left + place.width).toBeLessThanOrEqual(width + 1)
            expect(place.top + place.height).toBeLessThanOrEqual(height + 1)
            for (const other of all.slice(index + 1)) expect(overlap(place, other)).toBe(false)
          }
        },
      ),
    )
  })

  test('the last tiles in order are hidden first, and counted', () => {
    const { places, hidden } = arrange(400, 300, idsOf(30), null)
    expect([...places.keys()]).toEqual(idsOf(places.size))
    expect(hidden).toBe(30 - places.size)
  })

  test('a large tile has most of the space; the others are beside it, or below on an upright phone', () => {
    const wide = arrange(1_200, 700, idsOf(4), 'p2').places
    expect(wide.get('p2')?.width).toBeGreaterThan(900)
    expect(wide.get('p0')?.left).toBeGreaterThan(wide.get('p2')?.width ?? 0)
    const upright = arrange(390, 700, idsOf(4), 'p2').places
    expect(upright.get('p2')?.width).toBe(390)
    expect(upright.get('p0')?.top).toBeGreaterThan(upright.get('p2')?.height ?? 0)
    expect(upright.size).toBe(4)
  })

  test('after a large tile has left, the grid returns', () => {
    expect(arrange(800, 600, idsOf(2), 'gone')).toEqual(arrange(800, 600, idsOf(2), null))
  })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pageOf } from '../../../server/rooms/room-list.ts'

test('a page equals the one of a full sort', () => {
  const page = fc.tuple(
    fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { maxLength: 200 }),
    fc.nat({ max: 220 }),
    fc.nat({ max: 50 }),
  )
  fc.assert(
    fc.property(page, ([items, offset, limit]) => {
      const ascending = (one: number, other: number) => one - other
      const expected = [...items].sort(ascending).slice(offset, offset + limit)
      expect(pageOf([...items], ascending, offset, limit)).toEqual(expected)
    }),
    { numRuns: 1_000 },
  )
})

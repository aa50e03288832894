import { expect, test } from 'vitest'
import { RowSlots } from '../../renderer/kit/components/rowSlots.ts'

test('A row that stays keeps its place, and new rows take the places of removed ones', () => {
  const slots = new RowSlots<string>()
  expect(slots.assign(['a', 'b', 'c'])).toEqual([0, 1, 2])
  expect(slots.assign(['b', 'c', 'd'])).toEqual([1, 2, 0])
  expect(slots.assign(['x', 'c'])).toEqual([0, 2])
  const places = slots.assign(['x', 'c', 'y', 'z'])
  expect(places.slice(0, 2)).toEqual([0, 2])
  expect(new Set(places).size).toBe(4)
})

test('The place of a row that was used is not given to another row', () => {
  const slots = new RowSlots<string>()
  slots.assign(['a', 'b'])
  slots.use('a')
  slots.use('gone long ago')
  const [b, next] = slots.assign(['b', 'c'])
  expect(b).toBe(1)
  expect(next).toBe(2)
  expect(slots.assign(['c', 'd'])).toEqual([2, 1])
})

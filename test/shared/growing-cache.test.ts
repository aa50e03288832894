import { expect, test } from 'vitest'
import { setNewest } from '../../shared/growing-cache.ts'

test('An entry set again is the newest one, and the oldest entries above the maximum are dropped', () => {
  const map = new Map<string, number>()
  for (const [index, key] of ['first', 'second', 'first', 'third'].entries()) setNewest(map, key, index, 2)
  expect([...map]).toEqual([
    ['first', 2],
    ['third', 3],
  ])
})

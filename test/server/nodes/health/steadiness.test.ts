import { expect, test } from 'vitest'
import { Steadiness } from '../../../../server/nodes/pool/state/steadiness.ts'

/** Milliseconds until a node is steady that was lost so many times, a minute apart, and is back. */
function unsteadyFor(losses: number, apartMs = 60_000): number {
  let now = 0
  const node = new Steadiness(() => now)
  node.back()
  for (let n = 0; n < losses; n++) {
    now += apartMs
    node.lost()
    // A second sign of the same loss.
    node.lost()
    node.back()
  }
  const back = now
  while (!node.steady) now += 1_000
  return now - back
}

test('a node that was never lost is steady from its first answer on, also when its first poll fails', () => {
  const node = new Steadiness(() => 5)
  node.lost()
  node.back()
  expect(node.steady).toBe(true)
})

test('one that comes back is not steady at first, and for longer the more often it was lost', () => {
  expect([1, 2, 3, 4].map((losses) => unsteadyFor(losses))).toEqual([10_000, 20_000, 40_000, 80_000])
  expect(unsteadyFor(9)).toBe(300_000)
})

test('losses of long ago are forgotten', () => {
  expect(unsteadyFor(5, 11 * 60_000)).toBe(10_000)
})

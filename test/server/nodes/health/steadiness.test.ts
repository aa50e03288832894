import { expect, test } from 'vitest'
import { Steadiness } from '../../../../server/nodes/pool/state/steadiness.ts'

/** Milliseconds until a returned node counts as steady after this many losses, a minute apart by default. */
function unsteadyFor(losses: number, apartMs = 60_000): number {
  let now = 0
  const node = new Steadiness(() => now)
  node.back()
  for (let n = 0; n < losses; n++) {
    now += apartMs
    node.lost()
    // A second symptom of the same loss.
    node.lost()
    node.back()
  }
  const back = now
  while (!node.steady) now += 1_000
  return now - back
}

test('a node that was never lost is steady from its first answer on, even if its first poll fails', () => {
  const node = new Steadiness(() => 5)
  node.lost()
  node.back()
  expect(node.steady).toBe(true)
})

test('a returned node is unsteady at first, and longer after repeated losses', () => {
  expect([1, 2, 3, 4].map((losses) => unsteadyFor(losses))).toEqual([10_000, 20_000, 40_000, 80_000])
  expect(unsteadyFor(9)).toBe(300_000)
})

test('old losses are forgotten', () => {
  expect(unsteadyFor(5, 11 * 60_000)).toBe(10_000)
})

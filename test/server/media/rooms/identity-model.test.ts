import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestMediaNode } from '../../../support/media/media-node.ts'
import { followed, stories } from './identity-model.ts'

let node: TestMediaNode
beforeAll(async () => {
  node = await TestMediaNode.start({ settings: { resume_ms: 600_000 } })
})
afterAll(async () => {
  expect(node.complaints).toEqual([])
  await node.stop()
})

test('in any story of two guests and a host nobody gets an id or role without proof, and only removed users are refused', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async (steps) => await followed(node, steps)),
    { numRuns: 40 },
  )
})

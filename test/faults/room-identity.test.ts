import fc from 'fast-check'
import { expect, test } from 'vitest'
import { followed, stories } from '../server/media/rooms/identity-model.ts'
import { TestMediaNode } from '../support/media/media-node.ts'

test('600 random sequences with two guests and a host: nobody gets an id or a role without proof, and only removed users are refused', {
  timeout: 300_000,
}, async () => {
  await using node = await TestMediaNode.start({ settings: { resume_ms: 600_000 } })
  await fc.assert(
    fc.asyncProperty(stories, async (steps) => await followed(node, steps)),
    { numRuns: 600 },
  )
  expect(node.complaints).toEqual([])
})

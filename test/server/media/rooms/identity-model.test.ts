import fc from 'fast-check'
import { test } from 'vitest'

import { followed, stories } from './identity-model.ts'
import { sharedMediaNode } from '../../../support/fixtures.ts'

const node = sharedMediaNode({ settings: { resume_ms: 600_000 } })

test('in any story of two guests and a host nobody gets an id or role without proof, and only removed users are refused', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async (steps) => await followed(node(), steps)),
    { numRuns: 40 },
  )
})

import fc from 'fast-check'
import { test } from 'vitest'
import { staysTrue, story } from './convergence.ts'

test(
  'whatever happens to rooms, nodes and answers, the nodes come to hold what the store says',
  { timeout: 60_000 },
  () => fc.assert(fc.asyncProperty(story, staysTrue), { numRuns: 12 }),
)

import fc from 'fast-check'
import { test } from 'vitest'
import { staysTrue, story } from './convergence.ts'

test(
  'whatever happens to rooms, nodes and answers, the nodes come to hold what the store says',
  { timeout: 60_000 },
  () =>
    fc.assert(
      fc.asyncProperty(story, (steps) => staysTrue(steps)),
      { numRuns: 12 },
    ),
)

test('so they do where rooms are on several nodes, and everybody is on one of them', { timeout: 60_000 }, () =>
  fc.assert(
    fc.asyncProperty(story, (steps) => staysTrue(steps, 'janus')),
    { numRuns: 12 },
  ),
)

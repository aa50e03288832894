import fc from 'fast-check'
import { test } from 'vitest'
import { staysTrue, story } from '../server/nodes/placement/convergence.ts'

test('400 stories of rooms, nodes and answers: the nodes come to hold what the store says', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(story, (steps) => staysTrue(steps)),
    { numRuns: 400 },
  ),
)

test('400 stories of rooms on several nodes: so they do, and everybody is on one of them', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(story, (steps) => staysTrue(steps, 'janus')),
    { numRuns: 400 },
  ),
)

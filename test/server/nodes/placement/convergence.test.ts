import fc from 'fast-check'
import { test } from 'vitest'
import { staysTrue, story } from './convergence.ts'

test('nodes converge to the rooms of the store after any faults of rooms, nodes and answers', { timeout: 60_000 }, () =>
  fc.assert(
    fc.asyncProperty(story, (steps) => staysTrue(steps)),
    { numRuns: 12 },
  ),
)

test('nodes also converge where rooms are on several nodes, and everybody is on one of them', { timeout: 60_000 }, () =>
  fc.assert(
    fc.asyncProperty(story, (steps) => staysTrue(steps, 'janus')),
    { numRuns: 12 },
  ),
)

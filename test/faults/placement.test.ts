import fc from 'fast-check'
import { test } from 'vitest'
import { staysTrue, story } from '../server/nodes/placement/convergence.ts'

test('400 stories of rooms, nodes and answers: the nodes converge to the store', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(story, (steps) => staysTrue(steps)),
    { numRuns: 400 },
  ),
)

test(
  '400 stories of rooms on several nodes: the nodes converge to the store, and every user is on one of them',
  { timeout: 300_000 },
  () =>
    fc.assert(
      fc.asyncProperty(story, (steps) => staysTrue(steps, 'janus')),
      { numRuns: 400 },
    ),
)

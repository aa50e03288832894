import fc from 'fast-check'
import { test } from 'vitest'
import { staysTrue, story } from '../server/nodes/placement/convergence.ts'

test(
  '400 random sequences of changes to rooms, nodes and answers: the nodes converge to the store',
  { timeout: 300_000 },
  () =>
    fc.assert(
      fc.asyncProperty(story, (steps) => staysTrue(steps)),
      { numRuns: 400 },
    ),
)

test(
  '400 random sequences with rooms on several nodes: the nodes converge to the store, and every user is on one of them',
  { timeout: 300_000 },
  () =>
    fc.assert(
      fc.asyncProperty(story, (steps) => staysTrue(steps, 'janus')),
      { numRuns: 400 },
    ),
)

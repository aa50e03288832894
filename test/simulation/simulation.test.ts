import { expect, test } from 'vitest'
import { simulate } from './simulate.ts'

/** Two minutes of simulated time each; `npm run faults` runs hours of it. */
test.each([
  ['in a database: clients are told nothing older than what was answered before, and all are served afterwards', 1],
  ['in files: nothing acknowledged is lost, and a data folder whose own name was not synced is found', 4],
] as const)('Sites with faults of machines, disks and networks %s', async (kept, seed) => {
  const store = kept.startsWith('in files') ? 'files' : 'postgres'
  const result = await simulate({ seed, store })
  expect(result.broken, result.trace.split('\n').slice(-60).join('\n')).toBeUndefined()
  expect(result.answers).toBeGreaterThan(100)
  expect((await simulate({ seed, store })).trace).toBe(result.trace)
})

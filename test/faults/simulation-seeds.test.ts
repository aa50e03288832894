import { expect, test } from 'vitest'
import { simulate } from '../simulation/simulate.ts'

/** Runs of about 110 simulated seconds each. */
const runs = 12

test(`${runs} simulated sites with faults of machines, networks and databases: clients receive no state older than one already answered, and all are served afterwards`, {
  timeout: 120_000,
}, async () => {
  let answers = 0
  for (let seed = 1; seed <= runs; seed++) {
    const result = await simulate({ seed, store: 'postgres' })
    answers += result.answers
    expect(result.broken, `seed ${seed}\n${result.trace.split('\n').slice(-60).join('\n')}`).toBeUndefined()
  }
  expect(answers).toBeGreaterThan(5_000)
})

test('Simulated sites in files: nothing acknowledged is lost by kills, power cuts, full disks and failing syncs', {
  timeout: 60_000,
}, async () => {
  // The first finds a data folder whose own name was not synced, the last the same of backups, the others what only looked like a loss.
  for (const seed of [4, 1_045, 1_048, 2_009_904, 2_010_870]) {
    const result = await simulate({ seed, store: 'files' })
    expect(result.broken, `seed ${seed}\n${result.trace.split('\n').slice(-60).join('\n')}`).toBeUndefined()
  }
})

test('A seed gives the same trace each time', async () => {
  const [one, other] = [await simulate({ seed: 3, store: 'postgres' }), await simulate({ seed: 3, store: 'postgres' })]
  expect(other.trace).toBe(one.trace)
  const [file, again] = [await simulate({ seed: 3, store: 'files' }), await simulate({ seed: 3, store: 'files' })]
  expect(again.trace).toBe(file.trace)
})

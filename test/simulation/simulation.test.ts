import { expect, test } from 'vitest'
import { simulate } from './simulate.ts'

/** Runs of about 110 simulated seconds each. */
const runs = 12

test(`${runs} simulated sites with faults of machines, networks and databases: clients are told nothing older than what was answered before, and all are served afterwards`, {
  timeout: 120_000,
}, async () => {
  let answers = 0
  for (let seed = 1; seed <= runs; seed++) {
    const result = await simulate({ seed })
    answers += result.answers
    expect(result.broken, `seed ${seed}\n${result.trace.split('\n').slice(-60).join('\n')}`).toBeUndefined()
  }
  expect(answers).toBeGreaterThan(5_000)
})

test('A seed gives the same trace each time', async () => {
  const [one, other] = [await simulate({ seed: 3 }), await simulate({ seed: 3 })]
  expect(other.trace).toBe(one.trace)
})

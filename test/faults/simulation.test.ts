import { expect, test } from 'vitest'
import { simulate } from '../simulation/simulate.ts'

const first = Number(process.env.ROOMDESK_HISTORY_SEED ?? Math.floor(Math.random() * 1e6))
const hour = 3_600_000
test(`An hour of simulated sites with faults, from seed ${first} on: no guarantee is violated`, {
  timeout: 600_000,
}, async () => {
  for (let [seed, time] = [first, 0]; time < hour; seed++) {
    const result = await simulate({ seed })
    time += result.time
    expect(result.broken, `seed ${seed}\n${result.trace.split('\n').slice(-60).join('\n')}`).toBeUndefined()
  }
})

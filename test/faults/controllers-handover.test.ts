import { expect, test } from 'vitest'
import { handOver } from '../support/controllers/hand-over.ts'
import { proved } from '../support/controllers/proved.ts'

const times = 12

// Takes about 20 s.
test(`The lead is handed over by hand ${times} times under load: every call is answered, none waits longer than a second`, {
  timeout: 180_000,
}, async () => {
  const took: number[] = []
  const history = await proved({ clients: 9 }, async ({ site, clients }) => {
    for (let turn = 0; turn < times; turn++) {
      const leads = await site.leader()
      const next = site.controllers.find((one) => one !== leads)
      if (next === undefined) throw new Error('There is nobody to hand over to.')
      // Any controller accepts the request, not only the leader.
      const receiver = site.controllers[turn % site.controllers.length] ?? leads
      took.push(await handOver(site, receiver, next))
      await expect.poll(async () => (await site.leader()).name).toBe(next.name)
      await clients.moreChanges(30)
    }
  })
  const waited = Math.max(...history.map(({ start, end }) => end - start))
  console.info(
    `the change of leader took ${took.map(Math.round).join(', ')} ms; the longest wait was ${Math.round(waited)} ms`,
  )
  // No call failed, was cut off or was refused.
  expect(history.filter(({ outcome: { as } }) => as === 'open' || as === 'unasked')).toEqual([])
  expect(waited).toBeLessThan(1_000)
})

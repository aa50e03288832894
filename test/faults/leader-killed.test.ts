import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { historySeed, proved } from '../support/controllers/proved.ts'
import { seededRandom } from '../../shared/seeded-random.ts'

/** `npm run faults -- controllers-killed` kills it more often, while it records. */
const kills = 6

test(`The leader is killed ${kills} times under load: no change is lost or applied twice, and no client reads an older state`, {
  timeout: 180_000,
}, async () => {
  const seed = historySeed()
  const random = seededRandom(seed + 1)
  const history = await proved({ seed, controllers: 3, clients: 3, pauseMs: 50 }, async ({ site, clients }) => {
    for (let kill = 0; kill < kills; kill++) {
      const killed = await site.leader()
      await sleep(random() * 40)
      await site.kill(killed)
      await Promise.all([site.restart(killed), clients.moreChanges(2)])
    }
    expect(await site.epoch()).toBeGreaterThan(kills)
  })
  expect(history.length).toBeGreaterThan(kills * 5)
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { busyRounds, provedBusy } from '../support/busy/busy-site.ts'
import { historySeed } from '../support/controllers/proved.ts'
import { seededRandom } from '../../shared/seeded-random.ts'

/** Number of kills of the leader: each takes about four seconds. */
const kills = busyRounds(15)

test(`The leader is killed ${kills} times, with recordings, live streams and schedules in progress: no acknowledged change is lost, applied twice or followed by an older read`, {
  timeout: 240_000 + kills * 20_000,
}, async () => {
  const seed = historySeed()
  const random = seededRandom(seed + 1)
  const history = await provedBusy(
    { seed, durable: true, recordings: 'shared', pauseMs: 100 },
    async ({ site, clients, busy }) => {
      for (let kill = 0; kill < kills; kill++) {
        const killed = await site.leader()
        await sleep(random() * 150)
        await site.kill(killed)
        // The others serve the clients meanwhile; the killed one returns as a replica.
        await Promise.all([site.restart(killed), clients.moreChanges(5)])
        await busy.agrees()
        if ((kill + 1) % 20 === 0) console.info(`${kill + 1} kills, ${clients.changes} acknowledged changes`)
      }
      expect(await site.epoch()).toBeGreaterThan(kills)
    },
  )
  expect(history.length).toBeGreaterThan(kills * 10)
})

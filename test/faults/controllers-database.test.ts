import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { busyRounds, provedBusy } from '../support/busy/busy-site.ts'
import { proved } from '../support/controllers/proved.ts'

/** Number of crashes of the database; as many times it restarts in order. Each pair takes about ten seconds. */
const crashes = busyRounds(4)

test(`The database of several controllers is restarted ${crashes} times and crashes as often, with recordings, live streams and schedules in progress: whichever controller leads, nothing is lost`, {
  timeout: 240_000 + crashes * 60_000,
}, async () => {
  await provedBusy({ durable: true, recordings: 'own' }, async ({ site, clients, busy }) => {
    for (let turn = 0; turn < 2 * crashes; turn++) {
      await clients.moreChanges(30)
      await site.database.signal(turn % 2 === 0 ? 'SIGINT' : 'SIGQUIT')
      // For a moment, or longer than a lease.
      await sleep(turn % 3 === 2 ? 4_500 : (turn % 6) * 100)
      await site.database.launch()
      await clients.moreChanges(30)
      await busy.agrees()
    }
  })
})

// Takes about 50 s.
test('The database of several controllers freezes and resumes: reads are answered meanwhile, and nothing is lost or applied twice', {
  timeout: 240_000,
}, async () => {
  await proved({ durable: true }, async ({ site, clients }) => {
    for (const still of [1_500, 4_500, 9_000]) {
      await clients.moreChanges(30)
      const leads = await site.leader()
      const reader = clients.visitor('reads')
      const room = `still${still}.room`
      const asked = { do: 'create', room, topic: room } as const
      expect(await reader.ask(`still${still}.`, asked, { at: leads })).toEqual({ as: 'done' })
      await site.database.freeze(true)
      const until = performance.now() + still
      let longest = 0
      while (performance.now() < until) {
        const began = performance.now()
        expect((await reader.ask(`still${still}.`, { do: 'get', room }, { at: leads })).as).toBe('done')
        longest = Math.max(longest, performance.now() - began)
        await sleep(20)
      }
      await site.database.freeze(false)
      console.info(`still for ${still} ms: the longest read took ${Math.round(longest)} ms`)
      await clients.moreChanges(30)
    }
  })
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { roleOf } from '../support/sites/controllers-site.ts'
import { proved } from '../support/controllers/proved.ts'

const times = Number(process.env.ROOMDESK_KILL_ROUNDS ?? 5)

// Each round lasts until the lease of 3 s is over, and a second more.
test(`${times} times: a leader that freezes past its lease and resumes late stores nothing and serves no stale reads`, {
  timeout: 60_000 + times * 15_000,
}, async () => {
  await proved({ clients: 9, givesUpMs: 700 }, async ({ site, clients }) => {
    const late = clients.visitor('late')
    const other = clients.visitor('other')
    for (let turn = 0; turn < times; turn++) {
      const owner = `late${turn}.`
      const [asked, changed] = [`${owner}asked`, `${owner}changed`]
      const frozen = await site.leader()
      expect(await other.ask(owner, { do: 'create', room: changed, topic: `${owner}before` }, { at: frozen })).toEqual({
        as: 'done',
      })
      const epoch = await site.epoch()
      site.freeze(frozen, true)
      // Sent while it is frozen, answered when it resumes.
      const creation = late.ask(owner, { do: 'create', room: asked, topic: asked }, { at: frozen })
      const reading = other.ask(owner, { do: 'get', room: changed }, { at: frozen })

      const leads = await site.leader(frozen)
      expect(await site.epoch()).toBeGreaterThan(epoch)
      const change = clients.visitor('change')
      expect(await change.ask(owner, { do: 'update', room: changed, topic: `${owner}after` }, { at: leads })).toEqual({
        as: 'done',
      })
      await sleep((turn % 5) * 200)
      const [before] = (await site.journal()).slice(-1)
      site.freeze(frozen, false)

      // It may not answer from memory, and can only have forwarded the change.
      const read = await reading
      if (read.as === 'done') expect(read.seen?.topic).toBe(`${owner}after`)
      const created = await creation
      const stored = await change.ask(owner, { do: 'get', room: asked }, { at: leads })
      if (created.as === 'done') expect(stored.as).toBe('done')
      expect(
        (await site.journal()).filter(({ seq }) => seq > (before?.seq ?? 0)).every((line) => line.epoch > epoch),
      ).toBe(true)
      await expect.poll(async () => await roleOf(frozen)).toBe('standby')
      await clients.moreChanges(20)
    }
  })
})

// Takes about 30 s.
test('A leader that freezes for less than its lease keeps its role, and a frozen replica affects nobody', {
  timeout: 120_000,
}, async () => {
  await proved({ clients: 9, givesUpMs: 700 }, async ({ site, clients }) => {
    for (let turn = 0; turn < 3; turn++) {
      const leads = await site.leader()
      site.freeze(leads, true)
      await sleep(1_200)
      site.freeze(leads, false)
      await clients.moreChanges(20)
      const standsBy = site.controllers.find((one) => one !== leads)
      if (standsBy === undefined) throw new Error('There is none.')
      site.freeze(standsBy, true)
      await clients.moreChanges(20)
      await sleep(4_000)
      site.freeze(standsBy, false)
      await clients.moreChanges(20)
      expect((await site.leader()).name).toBe(leads.name)
    }
  })
})

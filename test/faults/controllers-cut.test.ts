import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { roleOf } from '../support/sites/controllers-site.ts'
import { proved } from '../support/controllers/proved.ts'

const drops = 20

// Takes about 40 s.
test(`The connection of the leader ends ${drops} times between a commit and its answer: the leader finds out whether the commit succeeded`, {
  timeout: 240_000,
}, async () => {
  await proved({ proxied: true }, async ({ site, clients }) => {
    for (let turn = 0; turn < drops; turn++) {
      const leads = await site.leader()
      await leads.proxy?.dropNextAnswer('append')
      await clients.moreChanges(10)
    }
  })
})

// Takes about 60 s.
test('Only the leader is cut off from the database: another controller leads, and the old one becomes a replica when it reconnects', {
  timeout: 240_000,
}, async () => {
  await proved({ proxied: true, clients: 9, givesUpMs: 8_000 }, async ({ site, clients }) => {
    for (const way of ['cut', 'silent', 'cut', 'silent'] as const) {
      const off = await site.leader()
      const { proxy } = off
      if (proxy === undefined) throw new Error('It has no way of its own.')
      if (way === 'cut') {
        proxy.closed = true
        proxy.cut()
      } else proxy.freeze(true)
      const leads = await site.leader(off)
      expect(leads.name).not.toBe(off.name)
      await clients.moreChanges(20)
      await sleep(500)
      if (way === 'cut') proxy.closed = false
      else proxy.freeze(false)
      await clients.moreChanges(20)
      await expect.poll(async () => await roleOf(off)).toBe('standby')
    }
  })
})

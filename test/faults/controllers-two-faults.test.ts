import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'vitest'
import type { Proof } from '../support/controllers/proved.ts'
import { proved } from '../support/controllers/proved.ts'

type Story = (proof: Proof) => Promise<void>

/** Each takes 5 to 15 s. */
const stories: Record<string, Story> = {
  'two of three are killed at once': async ({ site, clients }) => {
    const leads = await site.leader()
    const [other] = site.controllers.filter((one) => one !== leads)
    const both = other === undefined ? [leads] : [leads, other]
    await Promise.all(both.map((one) => site.kill(one)))
    await clients.moreChanges(20)
    await Promise.all(both.map((one) => site.restart(one)))
  },
  'all three are killed at once': async ({ site, clients }) => {
    await Promise.all(site.controllers.map((one) => site.kill(one)))
    await Promise.all(site.controllers.map((one) => site.restart(one)))
    await clients.moreChanges(20)
  },
  'the leader stands still, the next one is killed, and the first goes on': async ({ site, clients }) => {
    const first = await site.leader()
    site.freeze(first, true)
    const second = await site.leader(first)
    await clients.moreChanges(5)
    await site.kill(second)
    await clients.moreChanges(5)
    site.freeze(first, false)
    await clients.moreChanges(20)
    await site.restart(second)
  },
  'the leader is killed while the database starts again': async ({ site, clients }) => {
    const leads = await site.leader()
    await Promise.all([site.database.signal('SIGQUIT'), site.kill(leads)])
    await site.database.launch()
    await Promise.all([site.restart(leads), clients.moreChanges(20)])
  },
  'the database starts again while the leader hears nothing of it': async ({ site, clients }) => {
    const leads = await site.leader()
    leads.proxy?.freeze(true)
    await site.database.signal('SIGQUIT')
    await site.database.launch()
    await site.leader(leads)
    await clients.moreChanges(20)
    leads.proxy?.freeze(false)
    await clients.moreChanges(20)
  },
  'the database stands still while the leader is killed': async ({ site, clients }) => {
    const leads = await site.leader()
    await site.database.freeze(true)
    await site.kill(leads)
    await sleep(2_000)
    await site.database.freeze(false)
    await clients.moreChanges(20)
    await site.restart(leads)
  },
  'an answer to the leader is lost, and it is killed in the next moment': async ({ site, clients }) => {
    const leads = await site.leader()
    await leads.proxy?.dropNextAnswer('append')
    await site.kill(leads)
    await clients.moreChanges(20)
    await site.restart(leads)
  },
  'the leader is cut off from the database, and the one that takes over is killed': async ({ site, clients }) => {
    const first = await site.leader()
    if (first.proxy !== undefined) first.proxy.closed = true
    first.proxy?.cut()
    const second = await site.leader(first)
    await site.kill(second)
    await clients.moreChanges(5)
    if (first.proxy !== undefined) first.proxy.closed = false
    await site.restart(second)
    await clients.moreChanges(20)
  },
}

// Takes about 90 s.
test('Two faults at once, each pair under the same load', { timeout: 400_000 }, async () => {
  await proved({ proxied: true, clients: 9, givesUpMs: 2_000, durable: true }, async (proof) => {
    for (const [name, story] of Object.entries(stories)) {
      const began = performance.now()
      await proof.clients.moreChanges(20)
      await story(proof)
      await proof.site.leader()
      console.info(`${name}: ${Math.round((performance.now() - began) / 1_000)} s`)
    }
  })
})

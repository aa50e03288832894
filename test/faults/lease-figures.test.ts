import { expect, onTestFinished, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { ControllersSite, credential } from '../support/sites/controllers-site.ts'

test('The operator sees when the leader could not renew its lease, and that reads waited', async () => {
  const site = await ControllersSite.start({ controllers: 2 })
  onTestFinished(() => site.remove())
  const { headless } = await site.leader()
  const client = new ApiClient(headless.ready, credential)
  await client.authenticate()
  const room_id = await client.createRoom()
  const figures = async () => {
    const text = await (await fetch(`${headless.ready.console}/metrics`)).text()
    const read = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    return {
      epoch: read('roomdesk_leader_epoch'),
      age: read('roomdesk_lease_proof_age_seconds'),
      lapses: read('roomdesk_lease_lapses'),
      waits: read('roomdesk_lease_waits'),
    }
  }
  const health = async () => {
    const answer = await fetch(`${headless.ready.console}/healthz`)
    return { status: answer.status, ...((await answer.json()) as object) }
  }
  // A machine that is busy with the start may have had one.
  const before = await figures()
  expect(before).toMatchObject({ epoch: await site.epoch(), waits: 0 })
  expect(before.age).toBeLessThan(0.5)
  await site.database.freeze(true)
  onTestFinished(() => site.database.freeze(false))
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  // Before the storage gives the database up, and before another controller may lead.
  expect(await health()).toMatchObject({
    status: 503,
    ok: false,
    role: 'leader',
    store: 'the database does not answer',
  })
  const reading = client.get('/rtc/room/get', { room_id })
  await expect.poll(figures).toMatchObject({ lapses: before.lapses + 1, waits: 1 })
  expect((await figures()).age).toBeGreaterThan(1)
  await site.database.freeze(false)
  expect((await reading).ret).toBe(0)
  await expect.poll(health).toMatchObject({ status: 200, ok: true, role: 'leader', store: 'ok' })
  const { lease } = await headless.rpc('controllers.list', {})
  expect(lease).toMatchObject({ epoch: before.epoch, lapses: (await figures()).lapses, waits: 1 })
  const [, replica] = site.controllers
  expect((await replica?.headless.rpc('controllers.list', {}))?.lease).toBeNull()
  const replicaFigures = async () => await (await fetch(`${replica?.headless.ready.console}/metrics`)).text()
  expect(await replicaFigures()).not.toMatch(/^roomdesk_leader_epoch /m)
  await expect.poll(replicaFigures).toMatch(/^roomdesk_standby_behind_lines 0$/m)
})

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { ControllersSite, credential, type SiteController } from '../support/sites/controllers-site.ts'

const env = {
  NODE_OPTIONS: `--require=${join(import.meta.dirname, '../support/fail-on-signal.cjs')}`,
  FAILING_PROGRAM: 'headless.js',
}

async function twoControllers(): Promise<{ site: ControllersSite; leads: SiteController; follows: SiteController }> {
  const site = await ControllersSite.start({ controllers: 2, env })
  onTestFinished(() => site.remove())
  const leads = await site.leader()
  const follows = site.controllers.find((one) => one !== leads)
  if (follows === undefined) throw new Error('Nobody stands by.')
  return { site, leads, follows }
}

async function signedIn({ headless }: SiteController): Promise<ApiClient> {
  const api = new ApiClient(headless.ready, credential)
  expect(await api.authenticate()).toMatchObject({ ret: 0 })
  return api
}

/** Reads the controllers in a controller's memory, from its own console. */
const known = async ({ headless }: SiteController): Promise<string[]> =>
  (await headless.rpc('rooms.list', {})).items.map(({ room_id }) => room_id)

test('A replica restarts after an unexpected error, follows again, and can become the leader', {
  timeout: 60_000,
}, async () => {
  const { site, leads, follows } = await twoControllers()
  const api = await signedIn(leads)
  const before = await api.createRoom()
  const { ready } = follows.headless
  process.kill(ready.pid, 'SIGUSR2')
  const meanwhile = await api.createRoom()
  // The same process, the same ports and the same role.
  expect(await follows.headless.readyAgain()).toEqual(ready)
  expect(ready).toMatchObject({ role: 'standby' })
  expect(follows.headless.log.filter((line) => line.includes('"unexpected error"'))).toHaveLength(1)
  const after = await api.createRoom()
  await expect.poll(() => known(follows)).toEqual(expect.arrayContaining([before, meanwhile, after]))
  const passedOn = await signedIn(follows)
  expect(await passedOn.get('/rtc/room/get', { room_id: after })).toMatchObject({ ret: 0 })
  expect(await (await fetch(`${ready.console}/metrics`)).text()).toMatch(/^roomdesk_restarts_total 1$/m)

  await site.kill(leads)
  expect(await site.leader(leads)).toBe(follows)
  for (const room_id of [before, meanwhile, after])
    expect(await passedOn.get('/rtc/room/get', { room_id })).toMatchObject({ ret: 0 })
  const { items } = await follows.headless.rpc('events.list', { groups: ['system'] })
  expect(items).toContainEqual(expect.objectContaining({ kind: 'controller.restarted' }))
  expect(await (await fetch(`${ready.console}/metrics`)).text()).toMatch(/^roomdesk_restarts_total 1$/m)
})

test('After an unexpected error in the leader another controller leads, and the old one returns on its ports as a replica', {
  timeout: 60_000,
}, async () => {
  const { site, leads, follows } = await twoControllers()
  const api = await signedIn(leads)
  const before = await api.createRoom()
  const { ready } = leads.headless
  process.kill(ready.pid, 'SIGUSR2')
  expect(await site.leader(leads)).toBe(follows)
  expect(await leads.headless.readyAgain()).toEqual({ ...ready, role: 'standby' })
  expect(await api.get('/rtc/room/get', { room_id: before })).toMatchObject({ ret: 0 })
})

import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { ControllersSite, type SiteController } from '../../support/sites/controllers-site.ts'
import { CapturedController, openCaptured, sendCaptured } from '../../support/controllers/heard-request.ts'
import { begunCookie, bothHalves } from '../../support/page-session.ts'

let site: ControllersSite
let leader: SiteController
let replica: SiteController
let leaderId: string
let replicaId: string
let captured: CapturedController

beforeAll(async () => {
  site = await ControllersSite.start({
    controllers: 2,
    proxied: true,
    nodes: [{ name: 'here', kind: 'embedded' }],
  })
  leader = await site.leader()
  const other = site.controllers.find((one) => one !== leader)
  if (other === undefined) throw new Error('Nobody stands by.')
  replica = other
  captured = await CapturedController.of(site)
  const { items } = await leader.headless.rpc('controllers.list', {})
  const idOf = ({ name }: SiteController): string => items.find((item) => item.name === name)?.id ?? ''
  leaderId = idOf(leader)
  replicaId = idOf(replica)
  return () => site.remove()
}, 60_000)

/** Signs in at a controller. @returns the session cookie */
async function signIn({ headless }: SiteController, name: string, password: string): Promise<string> {
  const body = JSON.stringify({ name, password })
  const answer = await fetch(`${headless.ready.console}/session`, { method: 'POST', body })
  expect(answer.status).toBe(204)
  const cookie = begunCookie(answer.headers)
  return cookie
}

async function call(
  { headless }: SiteController,
  headers: Record<string, string>,
  procedure: string,
  input: object = {},
): Promise<{ ok?: boolean; error?: { code: string }; value?: unknown }> {
  const sent = { method: 'POST', body: JSON.stringify(input), headers }
  const answer = await fetch(`${headless.ready.console}/rpc/${procedure}`, sent)
  return (await answer.json()) as { ok?: boolean; error?: { code: string }; value?: unknown }
}

const healthOf = async ({ headless }: SiteController, headers: Record<string, string> = {}) =>
  (await (await fetch(`${headless.ready.console}/healthz`, { headers })).json()) as { store: string; role: string }

/** Cuts a controller off from the database until the test has ended. */
async function cutOff(controller: SiteController): Promise<void> {
  const { proxy } = controller
  if (proxy === undefined) throw new Error('It has no way of its own.')
  proxy.closed = true
  proxy.cut()
  onTestFinished(async () => {
    proxy.closed = false
    await expect.poll(async () => (await healthOf(controller)).store, { timeout: 10_000 }).toBe('ok')
  })
  await expect.poll(async () => (await healthOf(controller)).store).not.toBe('ok')
}

test('A call that a replica forwards is applied once: a copy of it is refused here and at another controller', async () => {
  const path = '/rpc/rooms.list'
  const asked = captured.call(leaderId, 'POST', path, '{}')
  const { console } = leader.headless.ready
  expect(await sendCaptured(console, asked)).toMatchObject({ status: 200 })
  expect((await sendCaptured(console, asked)).status).toBe(421)
  const [method, body] = ['POST', '{}']
  for (const other of [{ path: '/rpc/accounts.list' }, { method: 'PUT' }])
    expect((await sendCaptured(console, { ...captured.call(leaderId, method, path, body), ...other })).status).toBe(421)
  expect((await sendCaptured(console, { ...captured.call(leaderId, method, path, body), body: '[]' })).status).toBe(0)
  expect((await sendCaptured(replica.headless.ready.console, captured.call(leaderId, method, path, body))).status).toBe(
    421,
  )
})

test('A controller cannot change anything at another one, even with a valid proof', async () => {
  const { console } = leader.headless.ready
  const account = { name: 'Mallory', role: 'admin', password: 'a long enough password' }
  const created = captured.call(leaderId, 'POST', '/rpc/accounts.create', JSON.stringify(account))
  expect((await sendCaptured(console, created)).status).toBe(421)
  const accounts = await leader.headless.rpc('accounts.list', {})
  expect(accounts.map(({ name }) => name)).not.toContain('Mallory')
})

test("A replica's WebSocket request works once: a copy of it does not connect", async () => {
  const { console } = leader.headless.ready
  const opened = captured.events(leaderId)
  expect(await openCaptured(console, opened)).toBe(101)
  expect(await openCaptured(console, opened)).toBe(421)
})

test("The leader's embedded node accepts a client address only from a proven controller, once per request", async () => {
  const { node } = leader.headless.ready
  // The node's process may just have started: it refuses proofs made before its start.
  const opened = await vi.waitFor(async () => {
    const next = captured.passedOn(leaderId, 'node', '/signal', '10.9.9.9')
    expect(await openCaptured(node, next)).toBe(101)
    return next
  }, 5_000)
  expect(await openCaptured(node, opened)).toBe(421)
  expect(await openCaptured(node, captured.passedOn(replicaId, 'node', '/signal', '10.9.9.9'))).toBe(421)
  expect(await openCaptured(node, captured.passedOn(leaderId, 'media', '/signal', '10.9.9.9'))).toBe(421)
})

test('A stranger cannot register a controller with the leader, even with a captured request of a controller', async () => {
  const { console } = leader.headless.ready
  const place = { media: '', device: '', node: '', console: 'http://127.0.0.1:9', event: '', certificate: '' }
  const joiner = JSON.stringify({ id: replicaId, name: replica.name, version: '0.2.0', place })
  const registration = captured.call(leaderId, 'POST', '/controllers', joiner)
  expect((await sendCaptured(console, registration)).status).toBe(204)
  expect((await sendCaptured(console, registration)).status).toBe(421)
  const madeUp = joiner.replace(replicaId, 'f'.repeat(replicaId.length))
  const next = captured.call(leaderId, 'POST', '/controllers', joiner)
  expect((await sendCaptured(console, { ...next, body: madeUp })).status).not.toBe(204)
  expect((await sendCaptured(console, { ...next, headers: next.headers.slice(2), body: madeUp })).status).toBe(404)
})

test('An admin revoked at the leader reads and changes nothing through a replica that is cut off from the database', async () => {
  const password = 'a long enough password'
  const { id: first } = await leader.headless.rpc('accounts.create', { name: 'Root', role: 'admin', password })
  const { id } = await leader.headless.rpc('accounts.create', { name: 'Ada', role: 'admin', password })
  const { token, access } = await leader.headless.rpc('accounts.create_token', { id: first, label: 'Script' })
  const [disabled, ended] = [await signIn(replica, 'Ada', password), await signIn(replica, 'Root', password)]
  const shown = [bothHalves(disabled), bothHalves(ended), { authorization: `Bearer ${token}` }]
  for (const headers of shown)
    await vi.waitFor(async () => expect(await call(replica, headers, 'rooms.list')).toMatchObject({ ok: true }))

  await cutOff(replica)
  await leader.headless.rpc('accounts.revoke_token', { id: access.id })
  await leader.headless.rpc('accounts.update', { id, enabled: false })
  await leader.headless.rpc('accounts.end_sessions', { id: first })
  for (const headers of shown)
    for (const [procedure, input] of [
      ['rooms.list', {}],
      ['accounts.list', {}],
      ['backups.list', {}],
      ['rooms.create', { topic: 'No', owner_id: 'o', room_mode: 1 }],
      ['controllers.lead', { id: replicaId }],
    ] as const) {
      const said = await call(replica, headers, procedure, input)
      expect([procedure, said]).toMatchObject([
        procedure,
        { ok: false, error: { code: expect.stringMatching(/unauthorized|standby/) } },
      ])
    }
  expect((await leader.headless.rpc('rooms.list', {})).items).toEqual([])
  expect((await healthOf(leader)).role).toBe('leader')
})

test('Messages of PostgreSQL are shown only to signed-in users', async () => {
  const password = 'a long enough password'
  await leader.headless.rpc('accounts.create', { name: 'Vera', role: 'viewer', password })
  const cookie = await signIn(replica, 'Vera', password)
  await cutOff(replica)
  expect((await healthOf(replica)).store).toBe('the database cannot be reached')
  expect(JSON.stringify(await healthOf(replica))).not.toMatch(/ECONN|127\.0\.0\.1|connection/i)
  await expect
    .poll(async () => (await healthOf(replica, bothHalves(cookie))).store)
    .toMatch(/ECONN|127\.0\.0\.1|connection/i)

  // The other one still leads, and reveals no more to a stranger.
  const cookieThere = await signIn(leader, 'Vera', password)
  await cutOff(leader)
  expect((await healthOf(leader)).role).toBe('leader')
  expect(JSON.stringify(await healthOf(leader))).not.toMatch(/ECONN|127\.0\.0\.1|connection/i)
  await expect
    .poll(async () => (await healthOf(leader, bothHalves(cookieThere))).store)
    .toMatch(/ECONN|127\.0\.0\.1|connection/i)
})

import { once } from 'node:events'
import http from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { bothHalves } from '../../support/page-session.ts'
import { type ControllerSite, controllerSite, password } from '../../support/sites/controller-site.ts'

/** Sends the head of a call and holds its body back. Returns the function that sends the body, with the status of the answer. */
async function heldCall(
  { url }: ControllerSite,
  path: string,
  who: http.OutgoingHttpHeaders,
  input: object,
): Promise<() => Promise<{ status: number | undefined; body: unknown }>> {
  const text = JSON.stringify(input)
  // The server asks for the body once it has judged the caller.
  const headers = { ...who, 'content-length': text.length, expect: '100-continue' }
  const sent = http.request(`${url}${path}`, { method: 'POST', agent: false, headers })
  sent.flushHeaders()
  await once(sent, 'continue')
  return async () => {
    sent.end(text)
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    return { status: response.statusCode, body: await json(response) }
  }
}

const mallory = { name: 'mallory', role: 'admin', password }

test('A call whose body was held back until the console key was replaced creates nothing', async () => {
  const site = await controllerSite()
  const old = await site.key()
  const call = await heldCall(site, '/rpc/accounts.create', { authorization: `Bearer ${old}` }, mallory)
  await site.call(old, 'console.replace_key', {})
  expect(await call()).toMatchObject({ status: 401, body: { ok: false } })
  expect(await site.call(await site.key(), 'accounts.list', {})).toEqual([])
})

test('A call whose body was held back until its token or session ended creates nothing', async () => {
  const site = await controllerSite()
  const { id } = await site.create('root', 'admin')
  const key = await site.key()
  const { token, access } = await site.call(key, 'accounts.create_token', { id, label: 'Stolen' })
  const cookie = await site.signIn('root')
  const room = { topic: 'Made too late' }
  const calls = [
    await heldCall(site, '/rpc/rooms.create', { authorization: `Bearer ${token}` }, room),
    await heldCall(site, '/rpc/rooms.create', bothHalves(cookie), room),
    await heldCall(site, '/tickets', bothHalves(cookie), { path: '/recordings/exports/none' }),
  ]
  await site.call(key, 'accounts.revoke_token', { id: access.id })
  await site.call(key, 'accounts.end_sessions', { id })
  for (const call of calls) expect((await call()).status).toBe(401)
  expect((await site.call(key, 'rooms.list', {})).total).toBe(0)
})

test('A call has the role that its account has when the body arrives', async () => {
  const site = await controllerSite()
  const { id } = await site.create('anna', 'operator')
  const key = await site.key()
  const { token } = await site.call(key, 'accounts.create_token', { id, label: 'Night' })
  const call = await heldCall(site, '/rpc/rooms.create', { authorization: `Bearer ${token}` }, { topic: 'Too late' })
  await site.call(key, 'accounts.update', { id, role: 'viewer' })
  expect((await call()).status).toBe(403)
})

import { once } from 'node:events'
import { expect, test } from 'vitest'
import { controllerSite } from '../../support/sites/controller-site.ts'
import { begunCookie, bothHalves } from '../../support/page-session.ts'

const off = { console: { key_sign_in: false } }

test('The console key can be switched off only if an admin can sign in without it, and its sessions end', async () => {
  const site = await controllerSite()
  const key = await site.key()
  await site.create('anna', 'operator')
  expect(await site.result(key, 'settings.set', off)).toMatchObject({
    status: 409,
    error: { problems: [{ path: 'console.key_sign_in' }] },
  })
  await site.create('root', 'admin')
  const { headers } = await site.offer({ key })
  const cookie = begunCookie(headers)
  const closed = once(await site.connect(cookie), 'close')
  // The session that switches it off still gets the answer.
  await site.call(key, 'settings.set', off)
  expect((await closed)[0]).toBe(4401)
  expect((await site.ask('GET', '/session', { headers: bothHalves(cookie) })).body).toEqual({
    password: true,
    key: false,
  })
  expect((await site.offer({ key })).status).toBe(401)
  expect(await site.result(key, 'rooms.list', {})).toMatchObject({ status: 401, error: { code: 'unauthorized' } })
  const root = await site.signIn('root')
  const { items } = await site.call(root, 'events.list', { groups: ['changes'] })
  expect(items[0]).toMatchObject({ after: { 'console.key_sign_in': false }, actor: { name: 'console key' } })
})

test('While the key is off, the last enabled admin cannot be deleted, disabled or demoted', async () => {
  const site = await controllerSite()
  const { id } = await site.create('root', 'admin')
  const second = await site.create('second', 'admin')
  await site.call(await site.key(), 'settings.set', off)
  const root = await site.signIn('root')
  await site.call(root, 'accounts.update', { id: second.id, enabled: false })
  expect(await site.result(root, 'accounts.delete', { id })).toMatchObject({ status: 409 })
  expect(await site.result(root, 'accounts.update', { id, enabled: false })).toMatchObject({ status: 409 })
  expect(await site.result(root, 'accounts.update', { id, role: 'viewer' })).toMatchObject({ status: 409 })
  expect(await site.call(root, 'account.me', {})).toMatchObject({ role: 'admin' })
  await site.call(root, 'settings.set', { console: { key_sign_in: true } })
  await site.call(root, 'accounts.delete', { id })
  expect(await site.call(await site.key(), 'accounts.list', {})).toHaveLength(1)
})

test('A site file or a flag on the machine switches the key on again; without an admin, the key works despite the setting', async () => {
  const site = await controllerSite()
  await site.create('root', 'admin')
  await site.call(await site.key(), 'settings.set', off)
  await site.restart({ settings: { console: { key_sign_in: true } } })
  expect(await site.call(await site.key(), 'account.me', {})).toMatchObject({ way: 'key' })

  await site.call(await site.key(), 'settings.set', off)
  await site.restart(undefined, { keySignIn: true })
  const { items } = await site.call(await site.key(), 'events.list', { groups: ['changes'] })
  expect(items[0]).toMatchObject({ actor: { name: '--console-key' }, after: { 'console.key_sign_in': true } })

  const other = await controllerSite({ settings: off })
  expect(await other.call(await other.key(), 'account.me', {})).toMatchObject({ way: 'key' })
})

import { expect, test } from 'vitest'
import { controllerSite } from '../../support/sites/controller-site.ts'

test('Anna creates a token for her script, which is shown once, acts in her name, and stops working when she revokes it', async () => {
  const site = await controllerSite()
  await site.create('anna', 'operator')
  const cookie = await site.signIn('anna')
  const { token, access } = await site.call(cookie, 'account.create_token', { label: 'Nightly', days: 30 })
  expect(await site.call(token, 'account.me', {})).toMatchObject({ name: 'anna', role: 'operator', way: 'token' })
  await site.call(token, 'rooms.create', { topic: 'By night' })
  const { items } = await site.call(cookie, 'events.list', { groups: ['changes'] })
  expect(items[0]).toMatchObject({ actor: { name: 'anna' }, params: { token_label: 'Nightly' } })
  const [listed] = await site.call(cookie, 'account.tokens', {})
  expect(listed).toMatchObject({ id: access.id, label: 'Nightly', role: 'operator' })
  expect(listed?.last_used_at).toBeGreaterThan(0)
  expect(JSON.stringify(await site.call(await site.key(), 'events.list', {}))).not.toContain(token)
  // A stolen token must not create its own successor.
  expect((await site.result(token, 'account.create_token', { label: 'More' })).status).toBe(403)
  const change = { old_password: 'x', new_password: 'a new password' }
  expect((await site.result(token, 'account.change_password', change)).status).toBe(403)
  await site.call(cookie, 'account.revoke_token', { id: access.id })
  expect((await site.result(token, 'rooms.list', {})).status).toBe(401)
})

test('The token of an admin runs the site but opens no session: a stolen one expires on its day', async () => {
  const site = await controllerSite()
  const { id } = await site.create('root', 'admin')
  const { token } = await site.call(await site.key(), 'accounts.create_token', { id, label: 'Provisioning' })
  await site.call(token, 'settings.set', { room_defaults: { max_video: 4 } })
  const password = 'a password of theirs'
  const refused = [
    await site.result(token, 'accounts.create', { name: 'eve', role: 'admin', password }),
    await site.result(token, 'accounts.update', { id, role: 'viewer' }),
    await site.result(token, 'accounts.reset_password', { id, password }),
    await site.result(token, 'accounts.create_token', { id, label: 'Second' }),
    await site.result(token, 'console.replace_key', {}),
  ]
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
  expect((await site.call(token, 'accounts.list', {})).map(({ name }) => name)).toEqual(['root'])
})

test('A viewer can neither make a token with more rights nor revoke the token of another account', async () => {
  const site = await controllerSite()
  await site.create('anna', 'viewer')
  const { id } = await site.create('root', 'admin')
  const { access } = await site.call(await site.key(), 'accounts.create_token', {
    id,
    label: 'Backup',
    role: 'operator',
  })
  const anna = await site.signIn('anna')
  expect((await site.result(anna, 'account.create_token', { label: 'x', role: 'operator' })).status).toBe(403)
  expect((await site.result(anna, 'account.revoke_token', { id: access.id })).status).toBe(404)
  expect((await site.result(anna, 'accounts.revoke_token', { id: access.id })).status).toBe(403)
})

test('Wrong tokens count like wrong keys, and a valid token is accepted all the same', async () => {
  const site = await controllerSite()
  const { id } = await site.create('anna', 'viewer')
  const { token } = await site.call(await site.key(), 'accounts.create_token', { id, label: 'x' })
  const tried = async (bearer: string): Promise<number> => (await site.result(bearer, 'rooms.list', {})).status
  for (let turn = 0; turn < 5; turn++) expect(await tried(`rdp_${turn}`)).toBe(401)
  expect(await tried('rdp_wrong')).toBe(429)
  expect(await tried(token)).toBe(200)
})

test('Metrics require a token if the setting says so, and accept one of any role', async () => {
  const site = await controllerSite()
  const { id } = await site.create('prometheus', 'viewer')
  const key = await site.key()
  const { token } = await site.call(key, 'accounts.create_token', { id, label: 'scrape' })
  const scrape = async (headers = {}): Promise<number> => (await site.ask('GET', '/metrics', { headers })).status
  expect(await scrape()).toBe(200)
  await site.call(key, 'settings.set', { console: { metrics_token: true } })
  expect(await scrape()).toBe(401)
  expect(await scrape({ authorization: `Bearer ${token}` })).toBe(200)
  await site.call(key, 'accounts.update', { id, enabled: false })
  expect(await scrape({ authorization: `Bearer ${token}` })).toBe(401)
})

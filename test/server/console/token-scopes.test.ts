import { describe, expect, test as base } from 'vitest'
import { type ProcedureName, procedures } from '../../../shared/console/contract.ts'
import { scopesOfRole } from '../../../shared/console/procedure-facts.ts'
import { type TokenScope, tokenScopes } from '../../../shared/domain/token-scopes.ts'
import { controllerSite, openControllerSite, password } from '../../support/sites/controller-site.ts'
import { disposed } from '../../support/fixtures.ts'

const names = Object.keys(procedures) as ProcedureName[]

const tokens = new Map<TokenScope, string>()
const test = base.extend('site', { scope: 'file' }, async ({}, { onCleanup }) => {
  const site = disposed(onCleanup, await openControllerSite())
  const { id } = await site.create('root', 'admin')
  const key = await site.key()
  for (const scope of tokenScopes) {
    const { token } = await site.call(key, 'accounts.create_token', { id, label: scope, scopes: [scope] })
    tokens.set(scope, token)
  }
  return site
})

describe('Rights of a token by its scopes', () => {
  test.for(tokenScopes)(
    'A token with %s calls the procedures of that scope, and is told the scopes that the others require',
    async (own, { site }) => {
      for (const name of names) {
        const headers = { authorization: `Bearer ${tokens.get(own)}` }
        // Input that no procedure accepts: an authorised caller learns that it is invalid.
        const { body } = await site.ask('POST', `/rpc/${name}`, { headers, body: { nonsense: true } })
        const { scope } = procedures[name].access
        const expected =
          scope === own || scope === 'any'
            ? { code: 'invalid' }
            : scope === 'none'
              ? { code: 'forbidden', name: 'personNeeded', values: { procedure: name } }
              : { code: 'forbidden', name: 'scopeMissing', values: { procedure: name, scope } }
        expect(body, name).toMatchObject({ ok: false, error: expected })
      }
    },
  )

  test('No input lets a token call a procedure that requires a person', async ({ site }) => {
    const write = tokens.get('site:write') ?? ''
    await site.call(write, 'settings.set', { room_defaults: { max_video: 4 } })
    for (const patch of [{ console: { key_sign_in: false } }, { tls: { mode: 'self-signed' as const } }])
      expect(await site.result(write, 'settings.set', patch)).toMatchObject({ error: { name: 'personNeeded' } })
    const key = await site.key()
    const { credential } = await site.call(key, 'credentials.create', { label: 'Client', enabled: false })
    const { access_key } = credential
    const credentials = tokens.get('credentials:write') ?? ''
    await site.call(credentials, 'credentials.update', { access_key, label: 'Other' })
    expect(await site.result(credentials, 'credentials.update', { access_key, enabled: true })).toMatchObject({
      error: { name: 'personNeeded' },
    })
  })

  test('A token opens no WebSocket of the console', async ({ site }) => {
    const { status } = await site.ask('GET', '/ws', {
      headers: {
        ...{ authorization: `Bearer ${tokens.get('site:read')}`, connection: 'Upgrade', upgrade: 'websocket' },
        ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
      },
    })
    expect(status).toBe(401)
  })
})

test('A token that reads cameras sees as much of their addresses as a viewer, even if its account is an admin', async () => {
  const site = await controllerSite({ nodes: [{ name: 'lab', kind: 'simulated' }] })
  const { id } = await site.create('root', 'admin')
  const key = await site.key()
  const { room_id } = await site.call(key, 'rooms.create', { topic: 'Yard' })
  await site.call(key, 'devices.create', {
    ...{ roomId: room_id, userId: 'cam', userName: 'Yard', userData: '' },
    userAddress: 'rtsp://cam.example/user=admin_password=tlJwpbo6_channel=1.sdp',
  })
  const read = await site.call(key, 'accounts.create_token', { id, label: 'r', scopes: ['devices:read'] })
  const write = await site.call(key, 'accounts.create_token', {
    ...{ id, label: 'w', scopes: ['devices:read', 'devices:write'] },
  })
  expect(JSON.stringify(await site.call(read.token, 'devices.list', {}))).not.toContain('tlJwpbo6')
  expect(JSON.stringify(await site.call(write.token, 'devices.list', {}))).toContain('tlJwpbo6')
})

test("A scope beyond the account's role is refused when a token is created, and when the role is lowered", async () => {
  const site = await controllerSite()
  const { id } = await site.create('anna', 'operator')
  const cookie = await site.signIn('anna')
  const beyond = await site.result(cookie, 'account.create_token', { label: 'x', scopes: ['nodes:write'] })
  expect(beyond).toMatchObject({ status: 403, error: { message: expect.stringContaining('nodes:write') } })
  const { token, access } = await site.call(cookie, 'account.create_token', {
    label: 'Rooms',
    scopes: ['rooms:write', 'rooms:read', 'rooms:write'],
  })
  expect(access.scopes).toEqual(['rooms:read', 'rooms:write'])
  expect((await site.call(cookie, 'account.tokens', {}))[0]?.scopes).toEqual(['rooms:read', 'rooms:write'])
  await site.call(token, 'rooms.create', { topic: 'One' })
  await site.call(await site.key(), 'accounts.update', { id, role: 'viewer' })
  expect(await site.result(token, 'rooms.create', { topic: 'Two' })).toMatchObject({
    error: { name: 'roleMissing', values: { role: 'operator' } },
  })
  expect((await site.call(token, 'rooms.list', {})).total).toBe(1)
})

test('A token created with a role has the scopes of that role, like tokens of versions without scopes', async () => {
  const site = await controllerSite()
  const { id } = await site.create('root', 'admin')
  const { token, access } = await site.call(await site.key(), 'accounts.create_token', {
    ...{ id, label: 'Night', role: 'operator' },
  })
  expect(access).toMatchObject({ role: 'operator', scopes: scopesOfRole('operator') })
  expect(access.scopes).not.toContain('nodes:write')
  await site.call(token, 'rooms.create', { topic: 'One' })
  expect((await site.result(token, 'nodes.remove', { name: 'x' })).status).toBe(403)
})

describe('End of tokens', () => {
  test.each([
    ['changes her password', 'account.change_password', { old_password: password, new_password: 'another sentence' }],
    ['gets a new password', 'accounts.reset_password', { password: 'another sentence' }],
    ['has her sessions ended', 'accounts.end_sessions', {}],
  ] as const)('Anna %s: her tokens end too, unless they are to be kept', async (_, name, input) => {
    const site = await controllerSite()
    const { id } = await site.create('anna', 'operator')
    const key = await site.key()
    for (const keep_tokens of [true, false]) {
      if (!keep_tokens && name === 'account.change_password')
        await site.call(key, 'accounts.reset_password', { id, password, keep_tokens: true })
      const cookie = name === 'account.change_password' ? await site.signIn('anna') : key
      const { token } = await site.call(key, 'accounts.create_token', { id, label: 'x' })
      const own = name === 'account.change_password' ? {} : { id }
      // Tokens end unless kept.
      const whole = { ...own, ...input, ...(keep_tokens ? { keep_tokens } : {}) }
      expect((await site.result(cookie, name, whole as never)).status).toBe(200)
      expect((await site.result(token, 'rooms.list', {})).status).toBe(keep_tokens ? 200 : 401)
    }
  })

  test('Disabling an account ends its tokens for good', async () => {
    const site = await controllerSite()
    const { id } = await site.create('anna', 'operator')
    const key = await site.key()
    const { token } = await site.call(key, 'accounts.create_token', { id, label: 'x' })
    await site.call(key, 'accounts.update', { id, enabled: false })
    await site.call(key, 'accounts.update', { id, enabled: true })
    expect((await site.result(token, 'rooms.list', {})).status).toBe(401)
    expect(await site.call(key, 'accounts.tokens', { id })).toEqual([])
  })
})

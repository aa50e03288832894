import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { controllerSite, password } from '../../support/sites/controller-site.ts'
import { bothHalves } from '../../support/page-session.ts'

describe('Signing in with an account', () => {
  test('Anna signs in with her name in any case, reads her profile, and signs out; no password or session is on disk in clear text', async () => {
    const site = await controllerSite()
    expect((await site.ask('GET', '/session')).body).toEqual({ password: false, key: true })
    const { id } = await site.create('Anna', 'operator')
    expect((await site.ask('GET', '/session')).body).toEqual({ password: true, key: true })
    const cookie = await site.signIn(' aNNa ')
    expect(await site.call(cookie, 'account.me', {})).toEqual({
      account_id: id,
      name: 'Anna',
      role: 'operator',
      way: 'password',
    })
    expect(await site.call(await site.key(), 'account.me', {})).toMatchObject({ name: '', role: 'admin', way: 'key' })
    expect((await site.ask('GET', '/session', { headers: bothHalves(cookie) })).status).toBe(204)
    await site.restart()
    expect(await site.call(cookie, 'account.me', {})).toMatchObject({ name: 'Anna' })
    const files = (await readdir(site.folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile())
    const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))
    expect(texts.join('\n')).not.toContain(password)
    expect(texts.join('\n')).not.toContain('$scrypt$')
    expect(texts.join('\n')).not.toContain(cookie.slice('roomdesk_session='.length))
    const out = await site.ask('DELETE', '/session', { headers: bothHalves(cookie) })
    expect([out.status, out.headers['set-cookie']?.[0]]).toEqual([204, expect.stringContaining('Max-Age=0')])
    expect((await site.ask('GET', '/session', { headers: bothHalves(cookie) })).status).toBe(401)
  })

  test('A wrong password, an unknown name and a disabled account get the same answer', async () => {
    const site = await controllerSite()
    const { id } = await site.create('anna', 'viewer')
    const wrong = await site.offer({ name: 'anna', password: 'wrong password' })
    const unknown = await site.offer({ name: 'nobody', password })
    await site.call(await site.key(), 'accounts.update', { id, enabled: false })
    const disabled = await site.offer({ name: 'anna', password })
    expect(wrong.status).toBe(401)
    expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body])
    expect([disabled.status, disabled.body]).toEqual([wrong.status, wrong.body])
  })

  test('A client with too many wrong passwords is told how long to wait; the owner signs in from another address meanwhile', async () => {
    const site = await controllerSite()
    await site.create('anna', 'viewer')
    // Sends all at once: no attempt may pass while another one is being verified.
    const tries = Array.from({ length: 7 }, () =>
      site.offer({ name: 'Anna', password: 'a wrong password' }, '127.0.0.9'),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    const blocked = await site.offer({ name: 'anna', password }, '127.0.0.9')
    expect(blocked.status).toBe(429)
    expect(blocked.body).toMatchObject({ retry_after: Number(blocked.headers['retry-after']) })
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(30)
    expect((await site.offer({ name: 'anna', password })).status).toBe(204)
  })

  test('The event log names accounts that signed in or were tried, but no unknown name', async () => {
    const site = await controllerSite()
    await site.create('anna', 'viewer')
    await site.signIn('anna')
    await site.offer({ name: 'anna', password: 'a wrong password' })
    await site.offer({ name: 'my secret password', password: 'x' })
    const key = await site.key()
    const { items } = await site.call(key, 'events.list', { groups: ['access'] })
    expect(items.map(({ kind, actor, params }) => [kind, actor.name, params.account])).toEqual([
      ['signIn.refused', '', undefined],
      ['signIn.refused', '', 'anna'],
      ['signIn.accepted', 'anna', undefined],
    ])
    expect(JSON.stringify(await site.call(key, 'events.list', {}))).not.toContain('my secret password')
  })
})

describe('Life cycle of an account', () => {
  test('Passwords must be long enough, and neither the name nor a common one; names are unique in any case', async () => {
    const site = await controllerSite()
    const key = await site.key()
    const refused = async (name: string, secret: string): Promise<unknown> => {
      const result = await site.result(key, 'accounts.create', { name, role: 'viewer', password: secret })
      return result.ok ? 'made' : [result.error.code, result.error.problems?.[0]?.path]
    }
    expect(await refused('anna', 'too short')).toEqual(['invalid', 'password'])
    expect(await refused('Anna Magdalena', 'anna magdalena')).toEqual(['invalid', 'password'])
    expect(await refused('anna', 'Password123')).toEqual(['invalid', 'password'])
    expect(await refused('anna', 'aaaaaaaaaaaa')).toEqual(['invalid', 'password'])
    expect(await refused('a\u0007b', password)).toEqual(['invalid', 'name'])
    expect(await refused('anna', 'eine lange Nacht')).toBe('made')
    expect(await refused('ANNA', password)).toEqual(['conflict', 'name'])
    // The event log uses this name for the holder of the key.
    expect(await refused('Console Key', password)).toEqual(['conflict', 'name'])
  })

  test("A new role, a new password by an admin, disabling and deleting end an account's sessions at once, and close its consoles", async () => {
    const site = await controllerSite()
    const key = await site.key()
    const { id } = await site.create('anna', 'viewer')
    const ends: (() => Promise<unknown>)[] = [
      () => site.call(key, 'accounts.update', { id, role: 'operator' }),
      () => site.call(key, 'accounts.reset_password', { id, password }),
      () => site.call(key, 'accounts.end_sessions', { id }),
      () => site.call(key, 'accounts.update', { id, enabled: false }),
      () => site.call(key, 'accounts.delete', { id }),
    ]
    for (const end of ends) {
      const [account] = await site.call(key, 'accounts.list', {})
      if (account?.enabled === false) await site.call(key, 'accounts.update', { id, enabled: true })
      const cookie = await site.signIn('anna')
      const socket = await site.connect(cookie)
      const closed = once(socket, 'close')
      await end()
      const [code] = (await closed) as [number]
      expect(code).toBe(4401)
      expect((await site.ask('GET', '/session', { headers: bothHalves(cookie) })).status).toBe(401)
    }
    expect(await site.call(key, 'accounts.sessions', {})).toEqual([])
  })

  test('Anna changes her password: this session stays, her other sessions end', async () => {
    const site = await controllerSite()
    await site.create('anna', 'viewer')
    const here = await site.signIn('anna')
    const there = await site.signIn('anna')
    const wrong = { old_password: 'not this one', new_password: 'staple staple' }
    expect(await site.result(here, 'account.change_password', wrong)).toMatchObject({
      status: 400,
      error: { problems: [{ path: 'old_password' }] },
    })
    const short = { old_password: password, new_password: 'short' }
    expect(await site.result(here, 'account.change_password', short)).toMatchObject({
      status: 400,
      error: { problems: [{ path: 'new_password' }] },
    })
    await site.call(here, 'account.change_password', { old_password: password, new_password: 'staple staple' })
    expect(await site.call(here, 'account.me', {})).toMatchObject({ name: 'anna' })
    expect((await site.ask('GET', '/session', { headers: bothHalves(there) })).status).toBe(401)
    expect((await site.offer({ name: 'anna', password })).status).toBe(401)
    await site.signIn('anna', 'staple staple')
  })

  test('Anna sees her sessions, ends one of them, then all others; she cannot see those of another account', async () => {
    const site = await controllerSite()
    await site.create('anna', 'viewer')
    await site.create('bert', 'viewer')
    const here = await site.signIn('anna')
    await site.signIn('anna', password, '127.0.0.3')
    await site.signIn('anna')
    const bert = await site.signIn('bert')
    const sessions = await site.call(here, 'account.sessions', {})
    expect(sessions.map(({ account, current }) => [account, current])).toEqual(
      expect.arrayContaining([
        ['anna', true],
        ['anna', false],
      ]),
    )
    const other = sessions.find(({ address }) => address === '127.0.0.3')
    await site.call(here, 'account.end_session', { id: other?.id ?? '' })
    expect(await site.call(here, 'account.end_other_sessions', {})).toEqual({ ended: 1 })
    expect(await site.call(here, 'account.sessions', {})).toHaveLength(1)
    const [his] = await site.call(bert, 'account.sessions', {})
    expect((await site.result(here, 'account.end_session', { id: his?.id ?? '' })).status).toBe(404)
    expect(await site.call(bert, 'account.me', {})).toMatchObject({ name: 'bert' })
  })

  test('The list of accounts shows the valid sessions and tokens of each account', async () => {
    const site = await controllerSite()
    const key = await site.key()
    const anna = await site.create('anna', 'viewer')
    const bert = await site.create('bert', 'viewer')
    await site.create('carl', 'viewer')
    const ended = await site.signIn('anna')
    for (const name of ['anna', 'anna', 'bert']) await site.signIn(name)
    await site.ask('DELETE', '/session', { headers: bothHalves(ended) })
    for (const { id } of [anna, bert, bert]) await site.call(key, 'accounts.create_token', { id, label: 'x', days: 1 })
    const counts = async () =>
      (await site.call(key, 'accounts.list', {})).map(({ name, sessions, tokens }) => [name, sessions, tokens])
    expect(await counts()).toEqual([
      ['anna', 2, 1],
      ['bert', 1, 2],
      ['carl', 0, 0],
    ])
    expect(await site.call(key, 'accounts.update', { id: bert.id, enabled: false })).toMatchObject({ sessions: 0 })
    expect((await counts())[0]).toEqual(['anna', 2, 1])
  })

  test('The event log names the account behind each change', async () => {
    const site = await controllerSite()
    await site.create('anna', 'operator')
    const cookie = await site.signIn('anna')
    await site.call(cookie, 'rooms.create', { topic: 'Morning' })
    const { items } = await site.call(cookie, 'events.list', { groups: ['changes'] })
    expect(items[0]).toMatchObject({ actor: { type: 'operator', name: 'anna', address: '127.0.0.1' } })
    expect(items.find(({ subject }) => subject.type === 'account')).toMatchObject({
      actor: { name: 'console key' },
      subject: { name: 'anna' },
      after: { name: 'anna', role: 'operator', enabled: true },
    })
    expect(JSON.stringify(items)).not.toContain('sealed:')
  })

  test('Accounts are part of a backup; restoring one ends the sessions of accounts that it changes', async () => {
    const site = await controllerSite()
    const key = await site.key()
    const { id } = await site.create('anna', 'viewer')
    const { name } = await site.call(key, 'backups.make', {})
    await site.call(key, 'accounts.reset_password', { id, password: 'another password' })
    const cookie = await site.signIn('anna', 'another password')
    await site.create('bert', 'viewer')
    await site.call(key, 'backups.restore', { name })
    expect((await site.call(key, 'accounts.list', {})).map((account) => account.name)).toEqual(['anna'])
    expect((await site.ask('GET', '/session', { headers: bothHalves(cookie) })).status).toBe(401)
    await site.signIn('anna')
  })
})

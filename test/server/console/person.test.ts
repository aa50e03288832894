import { describe, expect, test } from 'vitest'
import { type ProcedureName, procedures } from '../../../shared/console/contract.ts'
import type { ConsoleResult } from '../../../shared/domain/outcome.ts'
import { controllerSite, openControllerSite, password } from '../../support/sites/controller-site.ts'
import { begunCookie, bothHalves } from '../../support/page-session.ts'
import { shared } from '../../support/fixtures.ts'

const names = Object.keys(procedures) as ProcedureName[]
const minute = 60_000

/** A clock of accounts that a story advances. */
class Clock {
  #ahead = 0
  readonly now = (): number => Date.now() + this.#ahead

  pass(milliseconds: number): void {
    this.#ahead += milliseconds
  }
}

describe('Procedures that grant lasting access require a person', () => {
  test('Root reveals a secret right after signing in; ten minutes later she must enter her password again', async () => {
    const clock = new Clock()
    const site = await controllerSite(
      { credentials: [{ access_key: 'lobby', secret_key: 'the secret of the lobby' }] },
      { accountClock: clock.now },
    )
    await site.create('root', 'admin')
    const cookie = await site.signIn('root')
    const reveal = () => site.result(cookie, 'credentials.reveal', { access_key: 'lobby' })
    expect((await reveal()).status).toBe(200)
    clock.pass(10 * minute)
    expect(await reveal()).toMatchObject({
      status: 403,
      error: {
        code: 'forbidden',
        name: 'passwordNeeded',
        values: { procedure: 'credentials.reveal', minutes: 10 },
      },
    })
    expect(await site.result(cookie, 'account.confirm_password', { password: 'another password' })).toMatchObject({
      status: 400,
      error: { name: 'passwordWrong', problems: [{ path: 'password' }] },
    })
    expect((await reveal()).status).toBe(403)
    await site.call(cookie, 'account.confirm_password', { password })
    expect((await reveal()).status).toBe(200)
    // Her other browser has not confirmed the password.
    const other = await site.signIn('root')
    clock.pass(11 * minute)
    expect((await site.result(other, 'credentials.create', { label: 'Another' })).status).toBe(403)
  })

  test('Wrong passwords count as at sign-in, and are in the event log', async () => {
    const site = await controllerSite()
    await site.create('root', 'admin')
    const cookie = await site.signIn('root')
    const offer = (given: string) => site.result(cookie, 'account.confirm_password', { password: given })
    for (let turn = 0; turn < 5; turn++) expect((await offer('a wrong password')).status).toBe(400)
    expect(await offer(password)).toMatchObject({
      status: 409,
      error: { name: 'tooManyPasswords', values: { seconds: expect.any(Number) } },
    })
    expect((await site.offer({ name: 'root', password })).status).toBe(429)
    const { items } = await site.call(await site.key(), 'events.list', { groups: ['access'] })
    expect(items.filter(({ kind }) => kind === 'signIn.refused').length).toBeGreaterThan(0)
  })

  test('A setting that grants access requires the password; other settings and unchanged ones do not', async () => {
    const clock = new Clock()
    const site = await controllerSite(undefined, { accountClock: clock.now })
    await site.create('root', 'admin')
    const cookie = await site.signIn('root')
    clock.pass(11 * minute)
    const set = async (patch: object): Promise<number> => (await site.result(cookie, 'settings.set', patch)).status
    expect(await set({ console: { theme: 'dark', key_sign_in: true } })).toBe(200)
    expect(await set({ room_defaults: { max_video: 4 } })).toBe(200)
    expect(await set({ console: { key_sign_in: false } })).toBe(403)
    expect(await set({ compatibility: { older_clients: true } })).toBe(403)
    expect(await set({ media: { open_rooms: true } })).toBe(403)
    expect(await set({ access: { token_idle_ms: 60_000 } })).toBe(403)
    expect(await set({ cors_origins: ['https://evil.example'] })).toBe(403)
  })

  test("The console key in the call itself is never asked again: scripts in the site's own folder use it", async () => {
    const clock = new Clock()
    const site = await controllerSite(undefined, { accountClock: clock.now })
    const key = await site.key()
    clock.pass(60 * minute)
    const { credential } = await site.call(key, 'credentials.create', { label: 'Client' })
    await site.call(key, 'credentials.reveal', { access_key: credential.access_key })
  })

  test('A browser session of the console key shows the key again after ten minutes, and a restart', async () => {
    const clock = new Clock()
    const site = await controllerSite(undefined, { accountClock: clock.now })
    const cookie = begunCookie((await site.offer({ key: await site.key() })).headers)
    const make = () => site.result(cookie, 'credentials.create', { label: 'Client' })
    expect((await make()).status).toBe(200)
    clock.pass(10 * minute)
    expect(await make()).toMatchObject({
      status: 403,
      error: { name: 'keyNeeded', values: { procedure: 'credentials.create', minutes: 10 } },
    })
    const show = async (key: string): Promise<number> => {
      const { status, headers } = await site.ask('POST', '/session', { headers: bothHalves(cookie), body: { key } })
      expect(headers['set-cookie']).toBeUndefined()
      return status
    }
    expect(await show('a wrong key')).toBe(401)
    expect((await make()).status).toBe(403)
    expect(await show(await site.key())).toBe(204)
    expect((await make()).status).toBe(200)
    await site.restart(undefined, { accountClock: clock.now })
    expect((await make()).status).toBe(403)
  })

  test('A new console key is shown to the holder of the old one, never to a session', async () => {
    const site = await controllerSite()
    await site.create('root', 'admin')
    const file = expect.stringMatching(/console\.key$/)
    expect(await site.call(await site.signIn('root'), 'console.replace_key', {})).toEqual({ key: '', file })
    const cookie = begunCookie((await site.offer({ key: await site.key() })).headers)
    expect(await site.call(cookie, 'console.replace_key', {})).toEqual({ key: '', file })
    expect((await site.result(cookie, 'account.me', {})).status).toBe(401)
    const answer = await site.call(await site.key(), 'console.replace_key', {})
    expect(answer).toEqual({ key: await site.key(), file })
  })
})

describe('Each procedure, by the time since the password was entered', () => {
  const clock = new Clock()

  const site = shared(async () => {
    const site = await openControllerSite(undefined, { accountClock: clock.now })
    await site.create('root', 'admin')
    return site
  })
  const stale = shared(() => site().signIn('root'))
  const key = shared(() => site().key())
  const keySession = shared(async () => begunCookie((await site().offer({ key: key() })).headers))
  const fresh = shared(async () => {
    clock.pass(11 * minute)
    return await site().signIn('root')
  })

  const needing = names.filter((name) => procedures[name].access.person)

  /** Input that its schema accepts, about objects that do not exist. */
  const inputs: Readonly<Record<string, object>> = {
    'backups.read': { name: 'none', offset: 0 },
    'backups.write': { upload: 'none', offset: 0, data: '' },
    'backups.add': { upload: 'none' },
    'backups.restore': { name: 'none' },
    'account.create_token': { label: 'x', days: 1 },
    'accounts.create': { name: 'x', role: 'admin', password: 'short' },
    'accounts.update': { id: 'none' },
    'accounts.reset_password': { id: 'none', password },
    'accounts.delete': { id: 'none' },
    'accounts.create_token': { id: 'none', label: 'x' },
    'credentials.create': { label: 'x' },
    'credentials.rotate': { access_key: 'none' },
    'credentials.reveal': { access_key: 'none' },
    'credentials.curl': { access_key: 'none' },
    'credentials.restore': { ids: ['none'] },
    'rooms.reveal_password': { room_id: 'none' },
    'nodes.janus_config': { name: 'none' },
    'nodes.restore': { ids: ['none'] },
    'devices.export': {},
    'backups.delete': { name: 'none' },
    'trash.purge': { ids: ['none'] },
    'scenarios.start': { text: '{}' },
    'console.replace_key': {},
  }

  test.each(needing)('%s', async (name) => {
    // Replacing the key would end the sessions of the other cases.
    const result = async (who: string): Promise<ConsoleResult<unknown>> =>
      await site().result(who, name, inputs[name] ?? {})
    expect(await result(stale())).toMatchObject({ ok: false, error: { name: 'passwordNeeded' } })
    expect(await result(keySession())).toMatchObject({ ok: false, error: { name: 'keyNeeded' } })
    const later = await site().connect(stale())
    const answered = new Promise<unknown>((resolve) => {
      later.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as { id?: number }
        if (message.id === 7) resolve(message)
      })
    })
    later.send(JSON.stringify({ id: 7, procedure: name, input: inputs[name] ?? {} }))
    expect(await answered).toMatchObject({ result: { ok: false, error: { name: 'passwordNeeded' } } })
    later.terminate()
    if (name === 'console.replace_key') return
    for (const who of [fresh(), key()]) {
      const answer = await result(who)
      expect(answer.ok ? '' : (answer.error.name ?? '')).not.toBe('passwordNeeded')
    }
  })
})

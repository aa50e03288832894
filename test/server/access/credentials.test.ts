import { expect, onTestFinished, test } from 'vitest'
import { Capabilities } from '../../../server/capabilities/capabilities.ts'
import { credentialInput } from '../../../shared/console/credentials.ts'
import { RefusalError } from '../../../shared/domain/outcome.ts'
import { digestOf } from '../../support/api-client.ts'
import { accessSite, type AccessSite, secret } from '../../support/sites/access-site.ts'
import { room } from '../../support/sites/store-site.ts'

const input = (fields: object = {}) => credentialInput.parse({ label: 'Door', ...fields })
const knows = (site: AccessSite, accessKey: string, withSecret: string) =>
  site.digests.check(accessKey, digestOf(withSecret, accessKey), site.settings.access.digest_forms)

test('generated keys are random and unique', async () => {
  const site = await accessSite()
  const made = [await site.credentials.create(input()), await site.credentials.create(input())]
  for (const { credential, secret_key } of made) {
    expect(credential.access_key).toMatch(/^[0-9a-f]{24}$/)
    expect(secret_key).toMatch(/^[0-9a-f]{64}$/)
    expect(knows(site, credential.access_key, secret_key)).toMatchObject({ ok: true, form: 'sha1-hex' })
  }
  expect(new Set(made.flatMap(({ credential, secret_key }) => [credential.access_key, secret_key])).size).toBe(4)
})

test('the secret is sealed in the store, and survives a restart', async () => {
  const site = await accessSite()
  expect(JSON.stringify([...site.store.all('credentials')])).not.toContain(secret)
  await site.restart()
  expect(site.credentials.reveal('demo_access')).toBe(secret)
  expect(knows(site, 'demo_access', secret).ok).toBe(true)
})

test('an access_key is unique', async () => {
  const site = await accessSite()
  const twice = await Promise.allSettled([1, 2].map(() => site.credentials.create(input({ access_key: 'same' }))))
  expect(twice.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  const failure = await site.credentials.create(input({ access_key: 'demo_access' })).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(RefusalError)
  expect(failure).toMatchObject({ code: 'conflict', problems: [{ path: 'access_key' }] })
})

test('every change of an unknown credential is refused', async () => {
  const site = await accessSite()
  const { credentials } = site
  for (const act of [
    () => credentials.update('none', { label: 'x' }),
    () => credentials.update('none', { enabled: false }),
    () => credentials.rotate('none'),
    () => credentials.delete('none'),
    () => credentials.endSessions('none'),
    async () => credentials.reveal('none'),
  ]) {
    await expect(act()).rejects.toMatchObject({ name: 'RefusalError', code: 'notFound' })
  }
})

test('disabling a credential ends its sessions at once, and enabling does not restore them', async () => {
  const site = await accessSite()
  const token = site.open()
  await site.credentials.update('demo_access', { enabled: false })
  expect(site.check(token)).toEqual({ ok: false, reason: 'the session has ended: its credential was disabled' })
  expect(knows(site, 'demo_access', secret)).toMatchObject({ ok: false, reason: expect.stringContaining('disabled') })
  await site.credentials.update('demo_access', { enabled: true })
  expect(knows(site, 'demo_access', secret).ok).toBe(true)
  expect(site.check(token).ok).toBe(false)
})

test('changing label or permission keeps its sessions', async () => {
  const site = await accessSite()
  const token = site.open()
  const changed = await site.credentials.update('demo_access', { label: 'Lobby', p2p: true })
  expect(changed).toMatchObject({ label: 'Lobby', p2p: true, enabled: true })
  expect(site.check(token).ok).toBe(true)
})

test('rotating makes a new secret and ends its sessions at once', async () => {
  const site = await accessSite()
  const token = site.open()
  const { secret_key } = await site.credentials.rotate('demo_access')
  expect(knows(site, 'demo_access', secret).ok).toBe(false)
  expect(knows(site, 'demo_access', secret_key).ok).toBe(true)
  expect(site.check(token)).toEqual({ ok: false, reason: 'the session has ended: its credential got a new secret' })
  await site.credentials.rotate('demo_access', 'chosen')
  expect(site.credentials.reveal('demo_access')).toBe('chosen')
})

test('deleting ends its sessions at once, in the same change of the store', async () => {
  const site = await accessSite()
  const tokens = [site.open(), site.open()]
  const changes: number[] = []
  site.store.onChange((batch) => void changes.push(batch.length))
  await site.credentials.delete('demo_access')
  expect(changes).toEqual([3])
  for (const token of tokens) expect(site.check(token).ok).toBe(false)
  expect(site.credentials.list()).toEqual([])
  await site.restart()
  for (const token of tokens) expect(site.check(token).ok).toBe(false)
})

test('no session opens while its credential is being removed', async () => {
  const site = await accessSite()
  site.stuckDisk.begin(10)
  const deleted = site.credentials.delete('demo_access')
  expect(() => site.open()).toThrow(expect.objectContaining({ code: 'authenticationTimeout' }))
  site.stuckDisk.end()
  await deleted
  expect(site.sessions.total).toBe(0)
})

test('the operator can end the sessions of a credential and keep the credential', async () => {
  const site = await accessSite()
  const token = site.open()
  site.open()
  expect(await site.credentials.endSessions('demo_access')).toBe(2)
  expect(site.check(token)).toMatchObject({ reason: expect.stringContaining('operator') })
  expect(site.check(site.open()).ok).toBe(true)
})

test('the console shows the use of a credential, and no secret', async () => {
  const site = await accessSite()
  const token = site.open()
  site.clock.now += 5_000
  site.check(token)
  const view = site.credentials.view(site.credentials.get('demo_access'), 4)
  expect(view).toEqual({
    access_key: 'demo_access',
    label: 'Demo',
    enabled: true,
    p2p: false,
    created_at: site.clock.now - 5_000,
    rotated_at: site.clock.now - 5_000,
    last_used_at: site.clock.now,
    sessions: 1,
    rooms: 4,
    version: expect.any(String),
  })
})

test('a site file applies to the credentials that it names, and does nothing the second time', async () => {
  const site = await accessSite()
  const token = site.open()
  const same = input({ label: 'Demo', access_key: 'demo_access', secret_key: secret })
  let changes = 0
  site.store.onChange(() => changes++)
  await site.credentials.ensure(same)
  expect(changes).toBe(0)
  expect(site.check(token).ok).toBe(true)
  await site.credentials.ensure({ ...same, secret_key: 'another', p2p: true })
  expect(site.credentials.get('demo_access').p2p).toBe(true)
  expect(knows(site, 'demo_access', 'another').ok).toBe(true)
  expect(site.check(token).ok).toBe(false)
  const named = await site.credentials.ensure(input({ label: 'By label' }))
  expect((await site.credentials.ensure(input({ label: 'By label' }))).access_key).toBe(named.access_key)
})

test.each([true, false])('a rotation ends the links of a credential if requested: %s', async (endLinks) => {
  const site = await accessSite()
  const { store, credentials } = site
  await store.transact([], (change) => change.put('rooms', '1', room('1', 1)))
  const capabilities = new Capabilities({ store, clock: Date.now, used: () => {}, logger: { warn: () => {} } })
  onTestFinished(() => capabilities.close())
  const draft = { kind: 'join', room_id: '1', user_id: '', link: 'l', standing: 'member' } as const
  const make = (access_key: string) =>
    capabilities.make({ ...draft, expires_at: 4_000_000_000_000 }, { type: 'credential', access_key })
  const { credential } = await credentials.create(input())
  const other = await make(credential.access_key)
  const before = await make('demo_access')
  const storing = make('demo_access')
  await credentials.rotate('demo_access', undefined, { endLinks })
  const open = [before, await storing, other].map(({ id }) => capabilities.isInForce(id))
  expect(open).toEqual([!endLinks, !endLinks, true])
  expect(capabilities.isInForce((await make('demo_access')).id)).toBe(true)
})

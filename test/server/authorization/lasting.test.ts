import { describe, expect, onTestFinished, test as base } from 'vitest'
import { procedures } from '../../../shared/console/contract.ts'
import { tokenScopes } from '../../../shared/domain/token-scopes.ts'
import { openControllerSite } from '../../support/sites/controller-site.ts'
import { disposed } from '../../support/fixtures.ts'

/** Procedures that make or restore access, or lead people, media or data somewhere: no token may call them. */
const neverForTokens = [
  'account.create_token',
  'accounts.create',
  'accounts.create_token',
  'accounts.reset_password',
  'accounts.update',
  'backups.restore',
  'console.replace_key',
  'credentials.create',
  'credentials.restore',
  'credentials.rotate',
  'nodes.restore',
]
/** What these make ends with the token that made it, or their input decides. */
const forTokensToo = [
  'exports.start',
  'media.join_link',
  'media.join_now',
  'media.participant_token',
  'nodes.add',
  'nodes.update',
  'orders.live_link',
  'orders.record',
  'orders.renew_recording',
  'orders.stream',
]

const minute = 60_000

/** How far the clock of the accounts is ahead. */
let late = 0
const test = base
  .extend('site', { scope: 'file' }, async ({}, { onCleanup }) => {
    const nodes = [
      { name: 'lab', kind: 'simulated', addresses: [{ tag: '', addr: 'lab.example:7082' }] },
      { name: 'janus', kind: 'janus', ws_url: 'ws://127.0.0.1:9', admin_secret: 'secret of the node' },
    ]
    const opened = await openControllerSite({ nodes }, { accountClock: () => Date.now() + late })
    return disposed(onCleanup, opened)
  })
  .extend('key', { scope: 'file' }, async ({ site }) => await site.key())
  .extend('root', { scope: 'file' }, async ({ site }) => (await site.create('root', 'admin')).id)
  .extend('token', { scope: 'file' }, async ({ site, key, root: id }) => {
    const made = await site.call(key, 'accounts.create_token', { id, label: 'all', scopes: [...tokenScopes] })
    return made.token
  })
  .extend('stale', { scope: 'file' }, async ({ site, root: _ }) => {
    const session = await site.signIn('root')
    late += 11 * minute
    return session
  })

test('Operations with effects beyond the session of the caller are closed to tokens, unless the effects end with the token', () => {
  const rules = Object.entries(procedures).filter(([, { effect }]) => effect === 'lasting')
  const names = (isOpen: boolean): string[] =>
    rules
      .filter(
        ([
          ,
          {
            access: { scope },
          },
        ]) => (scope !== 'none') === isOpen,
      )
      .map(([name]) => name)
  expect(names(false).sort()).toEqual(neverForTokens)
  expect(names(true).sort()).toEqual(forTokensToo)
})

test('No token deletes for good, clears the request journal, replaces the licence or restarts the ports', () => {
  const closed = [
    'activity.clear',
    'backups.delete',
    'licence.set',
    'listeners.restart',
    'trash.empty',
    'trash.purge',
  ] as const
  for (const name of closed) expect([name, procedures[name].access.scope]).toEqual([name, 'none'])
  // A restart ends nothing for good.
  const withPassword = closed.filter((name) => procedures[name].access.person)
  expect(withPassword).toEqual(closed.filter((name) => name !== 'listeners.restart'))
})

test('An unattended session sends nothing as a client of the site: the session and the links of a client would outlive it', async ({
  site,
  key,
  stale,
}) => {
  const { credential } = await site.call(key, 'credentials.create', { label: 'Client' })
  const sent = { api: 'media', operation: 'list_users', params: { room_id: '1' } } as const
  expect(await site.result(stale, 'tester.send', { ...sent, access_key: credential.access_key })).toMatchObject({
    error: { name: 'passwordNeeded' },
  })
  expect(await site.result(stale, 'tester.send', sent)).toMatchObject({ ok: true })
})

describe('Settings of a node that direct users, media, links and secrets', () => {
  const lab = { name: 'lab', kind: 'simulated' } as const
  const janus = { name: 'janus', kind: 'janus' } as const
  const otherAddresses = [{ tag: '', addr: 'elsewhere.example:7082' }]
  const asBefore = { ...lab, addresses: [{ tag: '', addr: 'lab.example:7082' }] }

  test.for([
    ['nodes.update', { ...lab, addresses: otherAddresses }],
    ['nodes.update', { ...janus, ws_url: 'ws://elsewhere.example' }],
    ['nodes.update', { ...janus, ws_url: 'ws://127.0.0.1:9', admin_url: 'http://elsewhere.example/admin' }],
    ['nodes.test', { ...janus, ws_url: 'ws://elsewhere.example' }],
    ['nodes.add', { ...lab, name: 'new', addresses: otherAddresses }],
    ['nodes.add', { ...janus, name: 'new', ws_url: 'ws://elsewhere.example' }],
  ] as const)('%s to %j needs a person', async ([procedure, input], { site, token, stale }) => {
    expect(await site.result(token, procedure, input)).toMatchObject({ error: { name: 'personNeeded' } })
    expect(await site.result(stale, procedure, input)).toMatchObject({ error: { name: 'passwordNeeded' } })
  })

  test('A token changes settings that direct nothing, and adds a node without addresses', async ({
    site,
    key,
    token,
  }) => {
    onTestFinished(async () => {
      await site.call(key, 'nodes.update', { ...asBefore, weight: 1 })
      await site.call(key, 'nodes.remove', { name: 'spare' })
    })
    const { config } = await site.call(token, 'nodes.update', { ...asBefore, weight: 2 })
    expect(config.weight).toBe(2)
    await site.call(token, 'nodes.add', { ...lab, name: 'spare' })
    await site.call(token, 'nodes.test', asBefore)
    await site.call(await site.signIn('root'), 'nodes.update', { ...asBefore, addresses: otherAddresses })
  })
})

test('A test of a node, and an export of cameras with their logins, are logged as events', async ({ site, key }) => {
  await site.call(key, 'nodes.test', { name: 'lab', kind: 'simulated' })
  await site.call(key, 'devices.export', {})
  const { items } = await site.call(key, 'events.list', { groups: ['changes'] })
  const procedures = items.map(({ params }) => params.procedure)
  expect(procedures).toEqual(expect.arrayContaining(['nodes.test', 'devices.export']))
})

import { beforeEach, describe, expect, test } from 'vitest'
import { Capabilities } from '../../../server/capabilities/capabilities.ts'
import { LinkIndex } from '../../../server/capabilities/link-index.ts'
import { joinKeyOf, newNodeSecrets } from '../../../server/nodes/secrets/node-secrets.ts'
import { JoinLinks } from '../../../server/rooms/join-links.ts'
import { Removals } from '../../../server/rooms/removals.ts'
import type { CapabilityMaker } from '../../../server/store/capability-record.ts'
import type { StoredAccount } from '../../../server/store/records.ts'
import { limits } from '../../../shared/limits.ts'
import { maxEndedLinks, maxRemovals } from '../../../shared/media/control.ts'
import { everybody, RemovalTable } from '../../../shared/media/removal-table.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { room, type TemporaryStore, temporaryStore } from '../../support/sites/store-site.ts'
import { storedNode } from '../../support/stored-records.ts'
import { readToken } from '../../../shared/files/signed-tokens.ts'

/** Nodes admit holders of a signed link by themselves: each link stays on the list until it expires, and its end stays known to the nodes. */

const day = 24 * 60 * 60_000
const ann = { type: 'account', account: 'ann', token: 'token' } as const
const bob = { type: 'account', account: 'bob' } as const
const tokenEnd = Date.now() + day
const scope = { kind: 'join', standing: 'member', room_id: 'room', user_id: '' } as const

let site: TemporaryStore
let capabilities: Capabilities
let removals: Removals
beforeEach(async () => {
  site = await temporaryStore()
  const { store } = site
  const account = (id: string): StoredAccount => ({
    ...{ id, name: id, role: 'operator', enabled: true, password_sealed: '', stamp: 's' },
    ...{ created_at: 1, password_changed_at: 1 },
  })
  await store.transact([], (change) => {
    change.put('rooms', 'room', room('room', 1))
    for (const name of ['ann', 'bob']) change.put('accounts', name, account(name))
    change.put('access_tokens', 'token', {
      ...{ account: 'ann', label: 't', scopes: [], created_at: 1, expires_at: tokenEnd },
    })
    const node = storedNode('here', { kind: 'embedded' })
    change.put('nodes', 'here', { ...node, secrets_sealed: newNodeSecrets(node, store) })
  })
  capabilities = new Capabilities({ store, clock: Date.now, used: () => {}, logger: { warn: () => {} } })
  removals = new Removals({ store, settings: defaultSettings, logger: { error: () => expect.unreachable() } })
  store.onChange((changes) => removals.follow(changes))
  return async () => {
    capabilities.close()
    await site.remove()
  }
})

/** Makes links in one transaction. @returns their ids */
async function makeLinks(maker: CapabilityMaker, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, number) => `${JSON.stringify(maker)} ${number}`)
  await site.store.transact([], (change) => {
    for (const link of names) {
      capabilities.put(change, capabilities.prepare({ ...scope, link, expires_at: Date.now() + 30 * day }, maker))
    }
  })
  return names
}

test('An account at its limit of links creates no further one, so that each ends with its token; others can', async () => {
  const made = await makeLinks(ann, limits.accountLinks)
  await expect(makeLinks(ann, 1)).rejects.toMatchObject({ refusal: { name: 'tooManyLinks' } })
  await makeLinks(bob, 1)
  await site.store.transact([], (change) => change.delete('access_tokens', 'token'))
  const ended = new Set(removals.list().map(({ tokenId }) => tokenId))
  expect(made.filter((link) => !ended.has(link))).toEqual([])
})

test('A credential has at most half of the links of a site', () => {
  const record = (access_key: string, room: number) =>
    capabilities.prepare(
      { ...scope, room_id: `room ${room}`, link: 'one', expires_at: tokenEnd },
      { type: 'credential', access_key },
    ).record
  const index = new LinkIndex()
  for (let link = 0; link < limits.joinLinks / 2; link++) index.add(`link ${link}`, record('leaked', link % 10))
  expect(index.full(record('leaked', 11))).toHaveLength(1)
  expect(index.full(record('other', 11))).toEqual([])
})

test('A room at its limit of links has space again when they have ended', () => {
  const { record } = capabilities.prepare({ ...scope, link: 'one', expires_at: tokenEnd }, { type: 'site' })
  const index = new LinkIndex()
  const ids = Array.from({ length: limits.joinLinksPerRoom }, (_, number) => `link ${number}`)
  for (const id of ids) index.add(id, record)
  expect(index.full(record)).toEqual([new Set(ids)])
  for (const id of ids) index.add(id, { ...record, ...scope, link: 'one', ended_at: 1 })
  expect(index.full(record)).toEqual([])
})

test('A link made with an access token is signed until the token expires, at most', async () => {
  const { store } = site
  const links = new JoinLinks({
    store,
    rooms: { get: () => room('room', 1), checkSite: () => {} },
    capabilities,
    nodes: { address: () => '', views: () => [] },
    settings: defaultSettings,
    pageAddress: () => '',
    mediaUrl: () => 'http://media.example',
  })
  const wish = { roomId: 'room', role: 'member', lifeMs: 30 * day } as const
  const made = await links.make({ ...wish, maker: ann })
  const text = decodeURIComponent(new URL(made.url).hash.replace('#token=', ''))
  const key = Buffer.from(joinKeyOf(store) ?? '', 'base64')
  expect(readToken('join-token', key, text, Date.now())?.exp).toBe(tokenEnd)
  expect(made.expires_at).toBe(tokenEnd)
  expect((await links.make({ ...wish, maker: bob })).expires_at).toBeGreaterThan(tokenEnd)
})

describe('A link that has ended', () => {
  const now = Date.now()
  const ended = (tokenId: string, until: number) => ({ roomId: 'room', userId: everybody, tokenId, at: now, until })

  test('stays void however many users are removed', () => {
    const table = new RemovalTable([ended('leaked', now + day)])
    for (let user = 0; user <= maxRemovals; user++)
      table.add({ roomId: 'room', userId: `user ${user}`, tokenId: `link of ${user}`, at: now, until: now })
    expect(table.revoked('room', 'leaked')).toBe(true)
  })

  test('stays void however many expired links are revoked afterwards', () => {
    const table = new RemovalTable([ended('leaked', now + day)])
    for (let link = 0; link <= maxEndedLinks; link++) table.add(ended(`link ${link}`, now - 1))
    expect(table.revoked('room', 'leaked')).toBe(true)
    expect(table.list().length).toBeLessThanOrEqual(maxEndedLinks)
  })

  test('stays void beside the maximum number that the site stores', () => {
    const table = new RemovalTable([ended('leaked', now + day)])
    for (let link = 0; link < limits.joinRecords; link++) table.add(ended(`link ${link}`, now + day))
    expect(table.revoked('room', 'leaked')).toBe(true)
  })
})

test('Removals in one room displace neither those of other rooms nor the end of every link of the room', () => {
  const now = Date.now()
  const later = now + day
  const removed = (roomId: string, userId: string, tokenId = '') => ({ roomId, userId, tokenId, at: now, until: later })
  const table = new RemovalTable([removed('quiet', 'thief', 'link of thief'), removed('busy', everybody)])
  for (let user = 0; user <= maxRemovals; user++) table.add(removed('busy', `user ${user}`, `link of ${user}`))
  expect(table.refuses('quiet', 'thief')).toBe(true)
  expect(table.revoked('quiet', 'link of thief')).toBe(true)
  expect(table.outdated('busy', everybody, now)).toBe(true)
  expect(table.refuses('busy', `user ${maxRemovals}`)).toBe(true)
})

test('Removals in very many rooms stay within the limit of the site, and rooms with the most are trimmed first', () => {
  const now = Date.now()
  const removed = (roomId: string, userId: string) => ({ roomId, userId, tokenId: '', at: now, until: now + day })
  const table = new RemovalTable([removed('quiet', 'thief')])
  for (let room = 0; room < 60; room++)
    for (let user = 0; user < 200; user++) table.add(removed(`room ${room}`, `user ${user}`))
  expect(table.list().length).toBe(maxRemovals)
  expect(table.refuses('quiet', 'thief')).toBe(true)
  expect(new RemovalTable(table.list()).list()).toEqual(table.list())
})

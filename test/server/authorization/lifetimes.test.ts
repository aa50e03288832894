import { beforeAll, expect, test } from 'vitest'
import { scopesOfRole } from '../../../shared/console/procedure-facts.ts'
import { type ControllerSite, openControllerSite, password } from '../../support/sites/controller-site.ts'

/** What a session makes outlives it: beyond the lifetime that the settings give to links, that needs the password, entered just now. */

const minute = 60_000
const day = 24 * 60 * minute
const camera = { room_id: 'no-such-room', user_id: 'door' }

let site: ControllerSite
let late = 0
let stale = ''
/** As `stale`, for the test that ends this state. */
let returning = ''
let token = ''
let room = ''
let series = ''
beforeAll(async () => {
  site = await openControllerSite(
    { settings: { media: { link_life_ms: day } } },
    { accountClock: () => Date.now() + late },
  )
  const { id } = await site.create('olga', 'operator')
  const key = await site.key()
  token = (await site.call(key, 'accounts.create_token', { id, label: 'all', scopes: scopesOfRole('operator') })).token
  stale = await site.signIn('olga')
  returning = await site.signIn('olga')
  const make = async (topic: string, more: object = {}): Promise<string> =>
    (await site.call(key, 'rooms.create', { topic, owner_id: 'olga', room_mode: 1, ...more })).room_id
  room = await make('Lobby')
  const start = new Date(Date.now() + day).toISOString().slice(0, 16)
  const schedule = { start, zone: 'UTC', minutes: 60, rule: 'FREQ=DAILY' }
  series = await make('Series', { schedule })
  late = 11 * minute
  return () => site.remove()
})

const cases = [
  ['a link of 30 days', 'media.join_link', () => ({ room_id: room, life_ms: 30 * day })],
  ['a link to all meetings of a series', 'media.join_link', () => ({ room_id: series })],
  ["a Janus participant's token of two days", 'media.participant_token', () => ({ ...camera, life_ms: 2 * day })],
  ['a live link of two days', 'orders.live_link', () => ({ ...camera, ttl: 172_800 })],
  ['a recording, whose addresses do not expire', 'orders.record', () => camera],
  ['new addresses of a recording', 'orders.renew_recording', () => ({ id: '1' })],
  ['a live stream, which runs until it is stopped', 'orders.stream', () => camera],
] as const

test.each(cases)('An unattended session creates %s only with the password', async (_, procedure, input) => {
  expect(await site.result(stale, procedure, input())).toMatchObject({
    ok: false,
    error: { name: 'passwordNeeded', values: { procedure, minutes: 10 } },
  })
})

test.each(cases.filter(([, procedure]) => procedure !== 'media.participant_token'))(
  'A token makes %s, which ends with it',
  async (_, procedure, input) => {
    const answer = await site.result(token, procedure, input())
    expect(answer.ok ? '' : answer.error.name).not.toMatch(/passwordNeeded|personNeeded|scopeMissing/)
  },
)

test('A token creates no Janus participant token with a longer lifetime than links, because a Janus server would not end it', async () => {
  const input = { ...camera, life_ms: 2 * day }
  expect(await site.result(token, 'media.participant_token', input)).toMatchObject({ error: { name: 'personNeeded' } })
  const usual = await site.result(token, 'media.participant_token', { ...camera, life_ms: day })
  expect(usual).toMatchObject({ error: { name: 'roomNotFound' } })
})

test.each([
  ['a link with the default lifetime', 'media.join_link', () => ({ room_id: room })],
  ['a link of an hour', 'media.join_link', () => ({ room_id: room, life_ms: 60 * minute })],
  ['a live link of an hour', 'orders.live_link', () => camera],
  ["the operator's own way in", 'media.join_now', () => ({ room_id: room })],
] as const)('A session left open makes %s without it', async (_, procedure, input) => {
  const answer = await site.result(stale, procedure, input())
  expect(answer.ok ? '' : answer.error.name).not.toBe('passwordNeeded')
})

test('After the password was entered again, the link of 30 days is created', async () => {
  await site.call(returning, 'account.confirm_password', { password })
  // This site has no node that shows a page; the call itself is permitted.
  expect(await site.result(returning, 'media.join_link', { room_id: room, life_ms: 30 * day })).toMatchObject({
    error: { name: 'roomPageMissing' },
  })
})

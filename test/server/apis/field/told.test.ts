import { expect, test } from 'vitest'
import { OlderClients } from '../../../../server/http/older-clients.ts'
import { defaultSettings } from '../../../../shared/settings.ts'
import { observation } from '../../observe/observation.ts'
import { liveSite } from '../../../support/sites/live-site.ts'

/** Calls that only clients of the original platform make are counted, and reported while the switch is off. */

const info = '/sdk/config/serverinfo'

test('a refused client of the original platform is reported with address, credential and the setting that would serve it', async () => {
  const { client, olderClients } = await liveSite()
  expect(olderClients.view()).toEqual({ on: false, get_access_token: false, fixed: [], served: 0, refused: [] })

  const clientInfo = JSON.stringify({ access_tocken: client.token })
  const answer = await client.get(info, { client_info: clientInfo, uri_encode: 'yes' }, '')
  expect(answer).toEqual({ ret: 408, msg: `There is no ${info} on the media API.` })
  await client.get(info, { client_info: clientInfo, uri_encode: 'yes' }, '')
  expect(olderClients.view().refused).toEqual([
    {
      setting: 'older_clients',
      operation: 'server_info',
      path: info,
      by_parameters: false,
      client: '127.0.0.1',
      credential: 'full-access',
      count: 2,
      first_at: expect.any(Number),
      last_at: expect.any(Number),
    },
  ])
})

test('device operations on the media port, getAccessToken and parameters of older clients are reported as well', async () => {
  const { client, olderClients } = await liveSite()
  await client.get('/avd/api/outgoing/getOutgoingUsers', { accessToken: client.token }, '')
  await client.get('/avd/api/admin/getAccessToken', { accessKey: 'full-access', secretKey: 'not told' }, '')
  await client.get('/rtc/room/create', { topic: '', owner_id: 'anna', room_mode: 1 })
  await client.outgoing('createOutgoingUser', { roomId: '1', userId: 'a', userName: 'A', options: 'undefined' })
  const { refused } = olderClients.view()
  expect(refused.map(({ operation, setting, by_parameters }) => [operation, setting, by_parameters])).toEqual([
    ['create_outgoing_user', 'older_clients', true],
    ['create_room', 'older_clients', true],
    ['get_access_token', 'get_access_token', false],
    ['list_outgoing_users', 'older_clients', false],
  ])
  expect(refused.every(({ credential }) => credential === 'full-access')).toBe(true)
  expect(JSON.stringify(refused)).not.toContain('not told')
})

test('a client’s plain mistake and a common request are not reported as an older client', async () => {
  const { client, olderClients } = await liveSite()
  await client.get('/favicon.ico')
  await client.get('/rtc/room/create', { topic: 'x'.repeat(150), owner_id: 'anna', room_mode: 1 })
  await client.get('/rtc/room/get', { room_id: '' })
  await client.outgoing('createOutgoingUser', { roomId: '1', userId: 'a', userName: 'A', options: '{' })
  expect(olderClients.view().refused).toEqual([])
})

test('when the switch is turned on, earlier refusals are no longer reported', async () => {
  const { client, olderClients, settings } = await liveSite()
  await client.get(info)
  expect(olderClients.view().refused).toHaveLength(1)
  settings().compatibility.older_clients = true
  expect(olderClients.view()).toMatchObject({ on: true, refused: [] })
})

test('a client that the operator dismissed is not reported again, others are', async () => {
  const { client, olderClients } = await liveSite()
  await client.get(info, {}, '')
  olderClients.dismiss({ setting: 'older_clients', client: '127.0.0.1', credential: '' })
  await client.get(info, {}, '')
  await client.get('/avd/api/outgoing/getOutgoingUsers', {}, '')
  expect(olderClients.view().refused).toEqual([])
  await client.get('/avd/api/outgoing/getOutgoingUsers', { accessToken: client.token }, '')
  expect(olderClients.view().refused.map(({ credential }) => credential)).toEqual(['full-access'])
})

test('the operator sees the last twenty clients, newest first, and none after a week without calls', () => {
  const clock = { now: 1_700_000_000_000 }
  const olderClients = new OlderClients({
    settings: defaultSettings,
    sessions: { ownerOf: () => '' },
    isCredential: () => false,
    clock: () => clock.now,
  })
  for (let i = 0; i < 300; i++) {
    clock.now += 1_000
    olderClients.observe(observation({ operation: '', path: info, ret: 408, credential: '', client: `10.0.1.${i}` }))
  }
  const clients = olderClients.view().refused.map(({ client }) => client)
  expect(clients).toHaveLength(20)
  expect([clients[0], clients[19]]).toEqual(['10.0.1.299', '10.0.1.280'])
  olderClients.observe(observation({ operation: '', path: info, ret: 408, credential: '', client: '10.0.1.290' }))
  expect(olderClients.view().refused[0]).toMatchObject({ client: '10.0.1.290', count: 2, last_at: clock.now })
  expect(olderClients.counts).toEqual({ served: 0, refused: 301 })
  clock.now += 7 * 24 * 60 * 60 * 1000 + 1
  expect(olderClients.view().refused).toEqual([])
})

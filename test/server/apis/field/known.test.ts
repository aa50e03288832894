import { expect, test } from 'vitest'
import { sendRaw, parseRaw } from '../../../support/sites/api-site.ts'
import { liveSite, type LiveSite } from '../../../support/sites/live-site.ts'
import { sendRequest } from './requests.ts'

/** Operations for older clients are full operations: the activity, OpenAPI, fault rules and metrics include them. */

const list = '/avd/api/outgoing/getOutgoingUsers'

async function document(site: LiveSite, api: 'media' | 'device'): Promise<Record<string, Record<string, unknown>>> {
  const answer = await sendRequest(site, { to: api, target: '/openapi.json' })
  const { paths } = JSON.parse(parseRaw(answer).body) as { paths: Record<string, { get: Record<string, unknown> }> }
  return Object.fromEntries(Object.entries(paths).map(([path, { get }]) => [path, get]))
}

test('OpenAPI describes the current answers, and marks those for older clients', async () => {
  const site = await liveSite()
  const { compatibility } = site.settings()
  const before = await document(site, 'media')
  expect(Object.keys(before)).not.toContain('/sdk/config/serverinfo')
  expect(JSON.stringify(before)).not.toContain('x-setting')
  compatibility.older_clients = true
  const after = await document(site, 'media')
  expect(after['/sdk/config/serverinfo']).toMatchObject({ 'x-setting': 'compatibility.older_clients' })
  expect(after[list]).toMatchObject({ 'x-setting': 'compatibility.older_clients' })
  expect(after['/rtc/room/get']).toEqual(before['/rtc/room/get'])
  expect(Object.keys(after)).not.toContain('/avd/api/admin/getAccessToken')
  compatibility.get_access_token = true
  const device = await document(site, 'device')
  expect(device['/avd/api/admin/getAccessToken']).toMatchObject({ 'x-setting': 'compatibility.get_access_token' })
  expect(JSON.stringify(device[list])).toContain('"result"')
})

test('The activity shows the answer to an older client as sent, without secrets', async () => {
  const site = await liveSite()
  const { client, journal } = site
  Object.assign(site.settings().compatibility, { older_clients: true, get_access_token: true })
  const room_id = await client.createRoom()
  await client.outgoing('getOutgoingUsers', { roomId: room_id })
  await client.outgoing('destroyOutgoingUser', { roomId: '404404404', userId: 'a', userAddress: 'rtsp://10.0.0.8' })
  await client.get(
    '/avd/api/admin/getAccessToken',
    { accessKey: 'full-access', secretKey: 'a secret key of the tests' },
    '',
  )
  await client.get('/sdk/config/serverinfo', { client_info: JSON.stringify({ access_tocken: client.token }) }, '')
  await client.get('/rtc/room/get', { room_id })
  const [read, info, traded, destroyed, listed] = journal.list({ limit: 5, search: '' }).items
  expect(read).toMatchObject({ operation: 'get_room', answer: '' })
  expect(info).toMatchObject({
    api: 'media',
    operation: 'server_info',
    credential: 'full-access',
    params: { client_info: '{"access_tocken":"[redacted]"}' },
  })
  expect(JSON.parse(info?.answer ?? '')).toMatchObject({ ret: 0, room_server: { uri: '127.0.0.1:7082' } })
  expect(traded).toMatchObject({
    api: 'device',
    operation: 'get_access_token',
    credential: 'full-access',
    params: { accessKey: 'full-access', secretKey: '[redacted]' },
    answer: '{"ret":0,"msg":"","result":0,"err":"","data":{"accessToken":"[redacted]"}}',
  })
  expect(destroyed).toMatchObject({ ret: 424 })
  expect(destroyed?.answer).toBe(
    '{"ret":424,"msg":"There is no such room.","result":424,"err":"There is no such room."}',
  )
  expect(listed?.answer).toBe('{"ret":0,"msg":"","result":0,"err":"","data":{"total":0,"items":[]}}')
})

test('Fault rules apply to them, and metrics count them under their names', async () => {
  const site = await liveSite()
  site.settings().compatibility.older_clients = true
  site.faults.set([
    { operation: 'server_info', ret: 700, delay_ms: 0, drop: false, probability: 1, times: 0, minutes: 1 },
  ])
  expect(await site.client.get('/sdk/config/serverinfo')).toMatchObject({ ret: 700 })
  site.faults.set([
    { operation: 'list_outgoing_users', ret: 310, delay_ms: 0, drop: false, probability: 1, times: 0, minutes: 1 },
  ])
  const msg = 'A fault rule of the lab gave this answer.'
  expect(await site.client.get(list, { accessToken: site.client.token }, '')).toEqual({
    ret: 310,
    msg,
    result: 310,
    err: msg,
  })
  const lines = (await site.metrics.text()).split('\n')
  expect(lines).toContain('roomdesk_requests_total{api="media",operation="server_info",ret="700"} 1')
  expect(lines).toContain('roomdesk_requests_total{api="device",operation="list_outgoing_users",ret="310"} 1')
})

test('The token in client_info works like one beside it, in every spelling that clients use', async () => {
  const site = await liveSite()
  site.settings().compatibility.older_clients = true
  const { client } = site
  const infos = [
    JSON.stringify({ access_tocken: client.token }),
    JSON.stringify({ access_token: client.token, version: '3.6' }),
    `{'accessToken':'${client.token}'}`,
    encodeURIComponent(JSON.stringify({ access_tocken: client.token })),
    encodeURI(JSON.stringify({ access_tocken: client.token })),
  ]
  for (const client_info of infos) {
    expect(await client.get('/sdk/config/serverinfo', { client_info }, '')).toMatchObject({ ret: 0 })
  }
  for (const client_info of [
    '',
    '{}',
    '[]',
    'null',
    '"x"',
    '{"access_tocken":7}',
    '{"access_tocken":"old"}',
    '%7b%zz',
    '{'.repeat(8000),
  ]) {
    const answer = await sendRaw(
      Number(new URL(client.media).port),
      `GET /sdk/config/serverinfo?client_info=${encodeURIComponent(client_info).slice(0, 8000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    )
    expect((JSON.parse(parseRaw(answer).body) as { ret: number }).ret).toSatisfy(
      (ret: number) => ret === 602 || ret === 407,
    )
  }
})

import { expect, test } from 'vitest'
import { liveSite } from '../../../support/sites/live-site.ts'

const getMcu = '/sdk/get_mcu'
const two = {
  east: {
    idc_code: 'east',
    addresses: [
      { tag: 'public', addr: '203.0.113.5:7082' },
      { tag: 'local', addr: '10.0.0.5:7082' },
    ],
  },
  west: { idc_code: 'west', addresses: [{ tag: 'public', addr: '[2001:db8::9]:7082' }] },
}

test('the address is host:port, without a scheme, and stays the same', async () => {
  const { client } = await liveSite({ nodes: two })
  const room_id = await client.createRoom()
  const first = await client.get(getMcu, { room_id })
  expect(first).toEqual({ ret: 0, addr: '203.0.113.5:7082' })
  for (let again = 0; again < 3; again++) expect(await client.get(getMcu, { room_id })).toEqual(first)
})

test('a node without a configured address answers this machine’s', async () => {
  const { client } = await liveSite()
  const room_id = await client.createRoom()
  expect(await client.get(getMcu, { room_id })).toEqual({ ret: 0, addr: '127.0.0.1:7082' })
})

test('options select a node by idc_code and one of its addresses by ip_tag', async () => {
  const { client } = await liveSite({ nodes: two })
  const ask = async (options: object) => {
    const room_id = await client.createRoom()
    return (await client.get(getMcu, { room_id, options: JSON.stringify(options) })).addr
  }
  expect(await ask({ ip_tag: 'local', idc_code: '' })).toBe('10.0.0.5:7082')
  expect(await ask({ ip_tag: 'local', idc_code: 'west' })).toBe('[2001:db8::9]:7082')
  expect(await ask({ idc_code: 'nowhere', other: 1 })).toBeDefined()
})

test('407: options that are no JSON object, or contain values other than strings', async () => {
  const { client } = await liveSite()
  const room_id = await client.createRoom()
  for (const options of ['{', '[]', '"local"', 'null', '{"ip_tag":1}', '{"idc_code":{}}']) {
    expect(await client.get(getMcu, { room_id, options }), options).toMatchObject({ ret: 407 })
  }
  expect(await client.get(getMcu, { room_id, options: '' })).toMatchObject({ ret: 0 })
})

test('the token is also accepted as access_tocken and as token', async () => {
  const { client } = await liveSite()
  const room_id = await client.createRoom()
  for (const name of ['access_tocken', 'token']) {
    expect(await client.get(getMcu, { room_id, [name]: client.token }, '')).toMatchObject({ ret: 0 })
  }
  expect(await client.get(getMcu, { room_id, token: 'wrong' }, '')).toMatchObject({ ret: 602 })
})

test('410: no node is online', async () => {
  const { client, node } = await liveSite()
  const room_id = await client.createRoom()
  node().setFault({ mode: 'offline', delayMs: 0 })
  expect(await client.get(getMcu, { room_id })).toMatchObject({ ret: 410 })
})

test('411: every node is at its limit', async () => {
  const { client } = await liveSite({ nodes: { main: { max_rooms: 1 } } })
  const first = await client.createRoom()
  expect(await client.get(getMcu, { room_id: first })).toMatchObject({ ret: 0 })
  expect(await client.get(getMcu, { room_id: await client.createRoom() })).toMatchObject({ ret: 411 })
  expect(await client.get(getMcu, { room_id: first })).toMatchObject({ ret: 0 })
})

test('411: the user limit of the licence is reached', async () => {
  const { client, join, people } = await liveSite({ licence: { max_users: 2 } })
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  expect(await client.get(getMcu, { room_id })).toMatchObject({ ret: 0 })
  await join(room_id, 'bob')
  expect(await client.get(getMcu, { room_id })).toMatchObject({ ret: 411 })
  people.leave(room_id, 'bob')
  expect(await client.get(getMcu, { room_id })).toMatchObject({ ret: 0 })
})

test('405: the licence has expired, which is checked before the room', async () => {
  const { client, setLicence } = await liveSite()
  const room_id = await client.createRoom()
  await setLicence({ expires_at: '2020-01-01T00:00:00Z', max_users: 1 })
  expect(await client.get(getMcu, { room_id })).toMatchObject({ ret: 405 })
  expect(await client.get(getMcu, { room_id: 'nowhere' })).toMatchObject({ ret: 405 })
})

test('409: the node does not answer in time', async () => {
  const { client, node } = await liveSite({ deadlines: { node_ms: 300 } })
  const room_id = await client.createRoom()
  node().setFault({ mode: 'silent', delayMs: 0 })
  expect(await client.get(getMcu, { room_id })).toMatchObject({ ret: 409 })
})

test('700: the assignment cannot be stored', async () => {
  const { client, stuckDisk } = await liveSite({ deadlines: { store_ms: 1_000 } })
  const room_id = await client.createRoom()
  stuckDisk.begin(10)
  expect(await client.get(getMcu, { room_id })).toMatchObject({ ret: 700 })
})

test('a room whose node is lost moves to another one', async () => {
  const { client, node, until, pool } = await liveSite({ nodes: two })
  const room_id = await client.createRoom()
  expect(await client.get(getMcu, { room_id })).toMatchObject({ addr: '203.0.113.5:7082' })
  node('east').setFault({ mode: 'offline', delayMs: 0 })
  await until(() => pool.nodes.views().some(({ config, state }) => config.name === 'east' && state === 'offline'))
  expect(await client.get(getMcu, { room_id })).toMatchObject({ addr: '[2001:db8::9]:7082' })
})

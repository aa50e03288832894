import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, test as base } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { removeFolder, startHeadless } from '../../support/headless.ts'
import { disposed } from '../../support/fixtures.ts'

const credential = { label: 'Operator', access_key: 'op', secret_key: 'op-secret', p2p: true }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }

const test = base
  .extend('server', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await startHeadless({ site })))
  .extend('api', { scope: 'file' }, async ({ server }) => {
    const api: ApiClient = new ApiClient(server.ready, credential)
    await api.authenticate()
    return api
  })

describe("An operator's script", () => {
  test('creates a credential that a client uses, disables it, rotates it and deletes it', async ({ server, api }) => {
    const made = await server.rpc('credentials.create', { label: 'Lobby screens' })
    const client = new ApiClient(server.ready, { access_key: made.credential.access_key, secret_key: made.secret_key })
    expect((await client.authenticate()).ret).toBe(0)
    const room = await client.createRoom()
    expect(
      (await server.rpc('credentials.list', {})).find(({ access_key }) => access_key === client.accessKey),
    ).toMatchObject({ sessions: 1, rooms: 1 })
    expect((await client.get('/rtc/room/create', { topic: 't', owner_id: 'o', room_mode: 3 })).ret).toBe(701)
    await server.rpc('credentials.update', { access_key: client.accessKey, p2p: true })
    expect((await client.get('/rtc/room/create', { topic: 't', owner_id: 'o', room_mode: 3 })).ret).toBe(0)
    await server.rpc('credentials.update', { access_key: client.accessKey, enabled: false })
    expect((await client.get('/rtc/room/get', { room_id: room })).ret).toBe(602)
    expect((await client.authenticate()).ret).toBe(401)
    await server.rpc('credentials.update', { access_key: client.accessKey, enabled: true })
    expect((await client.authenticate()).ret).toBe(0)
    const rotated = await server.rpc('credentials.rotate', { access_key: client.accessKey })
    expect((await client.get('/rtc/room/get', { room_id: room })).ret).toBe(602)
    expect(await server.rpc('credentials.reveal', { access_key: client.accessKey })).toEqual({
      secret_key: rotated.secret_key,
    })
    const again = new ApiClient(server.ready, { access_key: client.accessKey, secret_key: rotated.secret_key })
    expect((await again.authenticate()).ret).toBe(0)
    await server.rpc('credentials.delete', { access_key: client.accessKey })
    expect((await again.get('/rtc/room/get', { room_id: room })).ret).toBe(602)
    expect((await api.get('/rtc/room/get', { room_id: room })).ret).toBe(0)
  })

  test('gets a curl line whose digest the server accepts', async ({ server }) => {
    const { url } = await server.rpc('credentials.curl', { access_key: 'op' })
    expect(await (await fetch(url)).json()).toMatchObject({ ret: 0 })
  })

  test('sees a room fill, lock, close and open again', async ({ api, server }) => {
    const room_id = await api.createRoom({ host_password: 'boss' })
    const status = async (): Promise<unknown> => (await api.get('/rtc/room/get', { room_id })).room_status
    expect(await status()).toBe(0)
    expect(
      await server.rpc('lab.join', { room_id, user_id: 'ann', user_name: 'Ann', host_password: 'boss' }),
    ).toMatchObject({ role: 'host' })
    expect(await server.rpc('lab.join', { room_id, user_id: 'bob', user_name: 'Bob' })).toMatchObject({
      role: 'member',
    })
    expect(await status()).toBe(1)
    expect((await api.get('/rtc/room/get_room_info', { room_id })).user_list).toEqual([
      { user_name: 'Ann', user_id: 'ann' },
      { user_name: 'Bob', user_id: 'bob' },
    ])
    await server.rpc('rooms.lock', { room_ids: [room_id] })
    expect(await status()).toBe(2)
    expect(await server.result('lab.join', { room_id, user_id: 'eve', user_name: 'Eve' })).toMatchObject({ ok: false })
    await server.rpc('rooms.unlock', { room_ids: [room_id] })
    expect(await api.get('/rtc/force_offline_mcu', { room_id, user_id: 'bob' })).toEqual({ ret: 0, msg: 'success' })
    expect((await api.get('/rtc/force_offline_mcu', { room_id, user_id: 'bob' })).ret).toBe(429)
    await server.rpc('rooms.close', { room_ids: [room_id] })
    expect(await status()).toBe(3)
    expect((await api.get('/sdk/get_mcu', { room_id })).ret).toBe(416)
    expect((await api.get('/rtc/room/get_room_info', { room_id })).user_list).toEqual([])
    await server.rpc('rooms.reopen', { room_ids: [room_id] })
    expect(await status()).toBe(0)
    expect((await api.get('/sdk/get_mcu', { room_id })).ret).toBe(0)
  })

  test('reads in the journal why a digest was refused; the caller does not', async ({ server }) => {
    const wrong = new ApiClient(server.ready, { access_key: 'op', secret_key: 'guess' })
    const answer = await wrong.authenticate()
    expect(answer.ret).toBe(401)
    const { items } = await server.rpc('activity.list', { operation: 'authenticate', outcome: 'failed', limit: 1 })
    expect(items[0]).toMatchObject({ credential: 'op', ret: 401 })
    expect(items[0]?.reason).not.toBe('')
    expect(answer.msg).not.toContain(items[0]?.reason)
    expect(JSON.stringify(items)).not.toContain('digest=')
  })

  test('makes an operation fail, wait and drop, and reverts it', async ({ server, api }) => {
    await server.rpc('lab.set_faults', { rules: [{ operation: 'get_room', ret: 700, times: 1 }] })
    expect((await api.get('/rtc/room/get', { room_id: 'x' })).ret).toBe(700)
    expect((await api.get('/rtc/room/get', { room_id: 'x' })).ret).toBe(404)
    await server.rpc('lab.set_faults', { rules: [{ operation: '*', drop: true }] })
    await expect(api.get('/rtc/room/get', { room_id: 'x' })).rejects.toThrow()
    await server.rpc('lab.set_faults', { rules: [] })
    expect((await api.get('/rtc/room/get', { room_id: 'x' })).ret).toBe(404)
  })

  test('learns that a port is in use before anything changes; the API keeps its port', async ({ server, api }) => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await once(blocker, 'listening')
    const { port } = blocker.address() as AddressInfo
    expect(await server.rpc('settings.check', { listeners: { media_port: port } })).toMatchObject({
      ok: false,
      problems: [{ path: 'listeners.media_port' }],
    })
    blocker.close()
    expect((await api.get('/rtc/room/get', { room_id: 'x' })).ret).toBe(404)
  })

  test('changes defaults of new rooms; old rooms keep theirs', async ({ api, server }) => {
    const before = await api.createRoom()
    await server.rpc('settings.set', { room_defaults: { attendee_max: 7 } })
    expect((await api.get('/rtc/room/get', { room_id: await api.createRoom() })).attendee_max).toBe(7)
    expect((await api.get('/rtc/room/get', { room_id: before })).attendee_max).toBe(100)
    expect(await server.result('settings.set', { room_defaults: { attendee_max: -1 } })).toMatchObject({
      ok: false,
      error: { problems: [{ path: 'room_defaults.attendee_max' }] },
    })
  })

  test('backs the site up, previews a restore, and restores it', async ({ api, server }) => {
    const kept = await api.createRoom()
    const { name } = await server.rpc('backups.make', {})
    const later = await api.createRoom()
    await server.rpc('rooms.delete', { room_ids: [kept] })
    const preview = await server.rpc('backups.preview', { name })
    expect(preview.rooms).toBe(preview.now.rooms)
    await server.rpc('backups.restore', { name })
    expect((await api.get('/rtc/room/get', { room_id: kept })).ret).toBe(0)
    expect((await api.get('/rtc/room/get', { room_id: later })).ret).toBe(404)
  })

  test('sends a request in the tester and sees both sides of it', async ({ server }) => {
    const sent = await server.rpc('tester.send', {
      api: 'device',
      operation: 'list_outgoing_users',
      access_key: 'op',
      params: {},
      method: 'POST',
      encoding: 'json',
    })
    expect(sent.request).toContain('POST /avd/api/outgoing/getOutgoingUsers HTTP/1.1')
    expect(JSON.parse(sent.body)).toMatchObject({ ret: 0 })
  })

  test('gets 700 and 504 while the disk hangs, and success after it', {
    timeout: 30_000,
  }, async ({ server, api }) => {
    await server.rpc('settings.set', { deadlines: { store_ms: 300 } })
    await server.rpc('lab.stall_store', { stalled: true })
    expect((await api.get('/rtc/room/create', { topic: 't', owner_id: 'o', room_mode: 1 })).ret).toBe(700)
    expect((await new ApiClient(server.ready, credential).authenticate()).ret).toBe(504)
    await server.rpc('lab.stall_store', { stalled: false })
    await expect
      .poll(async () => (await api.get('/rtc/room/create', { topic: 't', owner_id: 'o', room_mode: 1 })).ret)
      .toBe(0)
  })
})

test('A site file is applied again at every start and changes nothing the second time', async () => {
  const first = await startHeadless({
    site: { ...site, licence: { max_rooms: 2 }, settings: { room_defaults: { max_video: 3 } } },
  })
  const api = new ApiClient(first.ready, credential)
  await api.authenticate()
  const room = await api.createRoom()
  await api.createRoom()
  expect((await api.get('/rtc/room/create', { topic: 't', owner_id: 'o', room_mode: 1 })).ret).toBe(411)
  const extra = await first.rpc('credentials.create', { label: 'Not in the file' })
  await first.stop()
  const second = await startHeadless({
    folder: first.folder,
    site: { ...site, licence: { max_rooms: 5, expires_at: '2001-01-01' } },
  })
  const later = new ApiClient(second.ready, credential)
  later.token = api.token
  expect(await later.get('/rtc/room/get', { room_id: room })).toMatchObject({ ret: 0, max_video: 3 })
  expect((await later.get('/rtc/room/create', { topic: 't', owner_id: 'o', room_mode: 1 })).ret).toBe(405)
  expect((await later.get('/sdk/get_mcu', { room_id: room })).ret).toBe(405)
  expect((await second.rpc('credentials.list', {})).map(({ access_key }) => access_key)).toContain(
    extra.credential.access_key,
  )
  await second.stop()
  await removeFolder(first.folder)
})

test('A first start without a site file creates a credential and the embedded node, logs it, and shows no secret', async () => {
  const server = await startHeadless()
  const [made] = await server.rpc('credentials.list', {})
  const { secret_key } = await server.rpc('credentials.reveal', { access_key: made?.access_key ?? '' })
  await expect.poll(() => server.log.join('\n')).toContain('This machine')
  expect(server.log.join('\n')).toContain(made?.access_key)
  expect(server.log.join('\n')).not.toContain(secret_key)
  expect(server.log.join('\n')).not.toContain('#key=')
  const api = new ApiClient(server.ready, { access_key: made?.access_key ?? '', secret_key })
  await api.authenticate()
  const room = await api.createRoom()
  expect(await api.get('/sdk/get_mcu', { room_id: room })).toEqual({ ret: 0, addr: new URL(server.ready.node).host })
  expect(await server.rpc('nodes.list', {})).toMatchObject([{ config: { kind: 'embedded' }, state: 'online' }])
  await server.remove()
})

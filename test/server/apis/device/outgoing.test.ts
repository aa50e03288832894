import { sleep } from '../../../../shared/sleep.ts'
import { readdir, readFile } from 'node:fs/promises'
import { join as joinPath } from 'node:path'
import { expect, test } from 'vitest'
import { type DeviceErrorKind, deviceErrorKinds, deviceErrorMessages } from '../../../../shared/device.ts'
import { passwordOf } from '../../../support/stored-records.ts'
import { camera, liveSite, userIds } from '../../../support/sites/live-site.ts'

const create = 'createOutgoingUser'
const destroy = 'destroyOutgoingUser'
const list = 'getOutgoingUsers'

test('a device joins its room: ret 0 means that it is in the room', async () => {
  const { client } = await liveSite()
  const room_id = await client.createRoom()
  expect(await client.outgoing(create, camera(room_id, 'cam-1'))).toEqual({
    ret: 0,
    data: { roomId: room_id, userId: 'cam-1' },
  })
  expect(await userIds(client, room_id)).toEqual(['cam-1'])
})

test('the list shows a device with its parameters, without its password', async () => {
  const { client, folder, stop } = await liveSite()
  const roomId = await client.createRoom()
  const options = { login_name: 'admin', login_password: 'hunter-2-secret', vendor: { model: [1, 2] } }
  await client.outgoing(create, { ...camera(roomId, 'cam-1'), userData: 'x=1', options: JSON.stringify(options) })
  expect(await client.outgoing(list)).toEqual({
    ret: 0,
    data: {
      total: 1,
      items: [{ ...camera(roomId, 'cam-1'), userData: 'x=1', options: { ...options, login_password: '******' } }],
    },
  })
  await stop()
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const texts = await Promise.all(files.map((file) => readFile(joinPath(file.parentPath, file.name), 'utf8')))
  expect(texts.join('\n')).toContain('cam-1')
  expect(texts.join('\n')).not.toContain('hunter-2-secret')
})

test('a login in the address is removed from it, stored as credentials and never shown', async () => {
  const { client, store } = await liveSite()
  const roomId = await client.createRoom()
  const userAddress = 'rtsp://admin:p@ss/w#rd@10.0.0.8/live'
  expect(await client.outgoing(create, camera(roomId, 'cam-1', { userAddress }))).toMatchObject({ ret: 0 })
  const answer = await client.outgoing(list)
  expect(answer).toMatchObject({
    data: {
      items: [{ userAddress: 'rtsp://10.0.0.8/live', options: { login_name: 'admin', login_password: '******' } }],
    },
  })
  expect(passwordOf(store, 'cam-1')).toBe('p@ss/w#rd')
})

test('parameters come from the query, a form or a JSON body, with the token under any of its names', async () => {
  const { client } = await liveSite()
  const roomId = await client.createRoom()
  const url = `${client.device}/avd/api/outgoing/${create}`
  const post = async (type: string, body: string) =>
    (await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })).json()
  const form = new URLSearchParams({ ...camera(roomId, 'form'), access_token: client.token, options: '{"a":1}' })
  expect(await post('application/x-www-form-urlencoded', form.toString())).toMatchObject({ ret: 0 })
  const json = { ...camera(roomId, 'json'), access_tocken: client.token, options: { login_name: 'x' } }
  expect(await post('application/json', JSON.stringify(json))).toMatchObject({ ret: 0 })
  expect(await client.outgoing(list)).toMatchObject({
    data: { items: [{ options: { a: 1 } }, { options: { login_name: 'x' } }] },
  })
})

test('401: an invalid token, or missing or malformed parameters', async () => {
  const { client, store } = await liveSite()
  const roomId = await client.createRoom()
  const good = camera(roomId, 'cam-1')
  const cases: [string, Record<string, string>][] = [
    ['no roomId', { ...good, roomId: '' }],
    ['no userId', { ...good, userId: '' }],
    ['no userName', { ...good, userName: '' }],
    ['no address', { ...good, userAddress: '' }],
    ['an http address', { ...good, userAddress: 'http://10.0.0.8' }],
    ['an address without host', { ...good, userAddress: 'rtsp://' }],
    ['an address of 1025 bytes', { ...good, userAddress: `rtsp://h/${'x'.repeat(1016)}` }],
    ['options that are not JSON', { ...good, options: '{' }],
    ['options that are an array', { ...good, options: '[]' }],
    ['a login_name that is not a text', { ...good, options: '{"login_name":1}' }],
    ['an invalid assist_address', { ...good, options: '{"assist_address":"x"}' }],
  ]
  for (const [what, params] of cases) {
    expect(await client.outgoing(create, params), what).toEqual({ ret: 401, msg: expect.any(String) })
  }
  expect(await client.outgoing(create, good, 'wrong')).toMatchObject({ ret: 401 })
  expect(await client.outgoing(list, {}, '')).toMatchObject({ ret: 401 })
  expect(await client.outgoing(destroy, good, 'wrong')).toMatchObject({ ret: 401 })
  expect(await client.outgoing(destroy, { ...good, userAddress: 'x' })).toMatchObject({ ret: 401 })
  expect(store.all('devices').size).toBe(0)
})

test('424: the room does not exist or is closed; checked before 423', async () => {
  const { client, rooms } = await liveSite()
  const room_id = await client.createRoom()
  await client.outgoing(create, camera(room_id, 'cam-1'))
  expect(await client.outgoing(create, camera('nowhere', 'cam-1'))).toMatchObject({ ret: 424 })
  await rooms.close(room_id)
  expect(await client.outgoing(create, camera(room_id, 'cam-1'))).toMatchObject({ ret: 424 })
})

test('423: the userId is an outgoing user in any room, or a user in this one', async () => {
  const { client, join } = await liveSite()
  const [here, there] = [await client.createRoom(), await client.createRoom()]
  await client.outgoing(create, camera(here, 'cam-1'))
  await join(there, 'ann')
  expect(await client.outgoing(create, camera(here, 'cam-1'))).toMatchObject({ ret: 423 })
  expect(await client.outgoing(create, camera(there, 'cam-1'))).toMatchObject({ ret: 423 })
  expect(await client.outgoing(create, camera(there, 'ann'))).toMatchObject({ ret: 423 })
  expect(await client.outgoing(create, camera(here, 'ann'))).toMatchObject({ ret: 0 })
})

test('423: of several concurrent calls with one userId, one succeeds', async () => {
  const { client, store } = await liveSite()
  const rooms = [await client.createRoom(), await client.createRoom()]
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => client.outgoing(create, camera(rooms[n % 2] ?? '', 'cam-1'))),
  )
  expect(answers.filter(({ ret }) => ret === 0)).toHaveLength(1)
  expect(answers.filter(({ ret }) => ret === 423)).toHaveLength(9)
  expect(store.all('devices').size).toBe(1)
})

test('426: the join failed, msg says why, and nothing remains; 427 if the device was too slow', async () => {
  const { client, node, store } = await liveSite()
  const room_id = await client.createRoom()
  const tellable = deviceErrorKinds.map((kind): [DeviceErrorKind, number] => [kind, kind === 'timeout' ? 427 : 426])
  for (const [kind, ret] of tellable) {
    node().setDeviceFaults([{ match: '', kind }])
    const answer = await client.outgoing(create, camera(room_id, 'cam-1'))
    expect(answer.ret, kind).toBe(ret)
    if (ret === 426) expect(answer.msg).toBe(deviceErrorMessages[kind])
  }
  node().setDeviceFaults([])
  expect(store.all('devices').size).toBe(0)
  expect(await userIds(client, room_id)).toEqual([])
  expect(await client.outgoing(create, camera(room_id, 'cam-1'))).toMatchObject({ ret: 0 })
})

test('426: no MCU for the room, licence expired or full, room locked or full', async () => {
  const { client, node, rooms, setLicence, join } = await liveSite({ nodes: { main: { max_rooms: 1 } } })
  const room_id = await client.createRoom({ attendee_max: 2 })
  await join(room_id, 'ann')
  const answer = () => client.outgoing(create, camera(room_id, 'cam-1'))
  await setLicence({ expires_at: '2020-01-01' })
  expect(await answer()).toMatchObject({ ret: 426, msg: expect.stringContaining('expired') })
  await setLicence({ max_users: 1 })
  expect(await answer()).toMatchObject({ ret: 426, msg: expect.stringContaining('licence') })
  await setLicence({})
  await rooms.lock(room_id)
  expect(await answer()).toMatchObject({ ret: 426, msg: deviceErrorMessages.roomLocked })
  await rooms.unlock(room_id)
  await join(room_id, 'bob')
  expect(await answer()).toMatchObject({ ret: 426, msg: deviceErrorMessages.roomFull })
  expect(await client.outgoing(create, camera(await client.createRoom(), 'cam-2'))).toMatchObject({ ret: 426 })
  node().setFault({ mode: 'failing', delayMs: 0 })
  expect(await answer()).toMatchObject({ ret: 426 })
})

test('426: concurrent calls do not exceed the user limit of the licence', async () => {
  const { client, pool } = await liveSite({ licence: { max_users: 3 } })
  const room_id = await client.createRoom()
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => client.outgoing(create, camera(room_id, `cam-${n}`))),
  )
  expect(answers.filter(({ ret }) => ret === 0)).toHaveLength(3)
  expect(pool.presence.totals().devices).toBe(3)
})

test('427: the device does not answer in time; 310: its MCU does not', async () => {
  const { client, node, settings, store } = await liveSite()
  const room_id = await client.createRoom()
  await client.get('/sdk/get_mcu', { room_id })
  settings().deadlines.device_ms = 500
  node().setDeviceFaults([{ match: '', kind: 'silent' }])
  expect(await client.outgoing(create, camera(room_id, 'cam-1'))).toMatchObject({ ret: 427 })
  node().setFault({ mode: 'silent', delayMs: 0 })
  expect(await client.outgoing(create, camera(room_id, 'cam-2'))).toMatchObject({ ret: 310 })
  expect(store.all('devices').size).toBe(0)
})

test('427 although the MCU was slow to open the room: the device was being called at the deadline', async () => {
  const { client, node, settings } = await liveSite()
  const room_id = await client.createRoom()
  settings().deadlines.device_ms = 1_000
  const driver = node()
  const openRoom = driver.openRoom.bind(driver)
  driver.openRoom = async (...call) => {
    await sleep(600)
    await openRoom(...call)
  }
  driver.setDeviceFaults([{ match: '', kind: 'silent' }])
  const began = performance.now()
  expect(await client.outgoing(create, camera(room_id, 'cam-1'))).toMatchObject({ ret: 427 })
  expect(performance.now() - began).toBeLessThan(1_350)
})

test('310: the MCU is lost while a device joins, because it does not answer', async () => {
  const { client, node, pool, store } = await liveSite({
    deadlines: { health_ms: 50, health_interval_ms: 50, node_ms: 60_000 },
  })
  const room_id = await client.createRoom()
  node().setFault({ mode: 'silent', delayMs: 0 })
  expect(await client.outgoing(create, camera(room_id, 'cam-1'))).toMatchObject({ ret: 310 })
  expect(pool.nodes.engine()).toBe('unresponsive')
  expect(store.all('devices').size).toBe(0)
})

test('302, 303, 304: the media engine is stopped', async () => {
  const { client, node, pool, store, until } = await liveSite()
  const room_id = await client.createRoom()
  await client.outgoing(create, camera(room_id, 'cam-1'))
  node().setFault({ mode: 'offline', delayMs: 0 })
  await until(() => pool.nodes.engine() === 'stopped')
  expect(await client.outgoing(create, camera(room_id, 'cam-2'))).toMatchObject({ ret: 302 })
  expect(await client.outgoing(create, camera(room_id, 'cam-1'))).toMatchObject({ ret: 423 })
  expect(await client.outgoing(destroy, camera(room_id, 'cam-1'))).toMatchObject({ ret: 303 })
  expect(await client.outgoing(list)).toMatchObject({ ret: 304 })
  expect([...store.all('devices').keys()]).toEqual(['cam-1'])
})

test('302 and 303: a change that cannot be stored is not applied', async () => {
  const { client, store, stuckDisk, outgoing, until, node } = await liveSite({ deadlines: { store_ms: 1_000 } })
  const room_id = await client.createRoom()
  await client.outgoing(create, camera(room_id, 'cam-1'))
  stuckDisk.begin(10)
  expect(await client.outgoing(create, camera(room_id, 'cam-2'))).toMatchObject({ ret: 302 })
  expect(await client.outgoing(destroy, camera(room_id, 'cam-1'))).toMatchObject({ ret: 303 })
  stuckDisk.end()
  await until(() => outgoing.view('cam-1')?.state === 'joined')
  await expect.poll(() => userIds(client, room_id)).toEqual(['cam-1'])
  expect(await node().health(AbortSignal.timeout(1_000))).toMatchObject({ users: 1, pulls: 1 })
  expect([...store.all('devices').keys()]).toEqual(['cam-1'])
})

test('one camera in several rooms, or twice in one, is pulled once', async () => {
  const { client, node } = await liveSite()
  const [here, there] = [await client.createRoom(), await client.createRoom()]
  const same = { userAddress: 'rtsp://10.0.0.8:554/live' }
  for (const [roomId, userId] of [
    [here, 'a'],
    [here, 'b'],
    [there, 'c'],
  ] as const) {
    expect(await client.outgoing(create, camera(roomId, userId, same))).toMatchObject({ ret: 0 })
  }
  expect(await node().health(AbortSignal.timeout(1_000))).toMatchObject({ users: 3, pulls: 1 })
})

test('destroy removes a device from its room for good', async () => {
  const { client, store } = await liveSite()
  const room_id = await client.createRoom()
  await client.outgoing(create, camera(room_id, 'cam-1'))
  expect(await client.outgoing(destroy, camera(room_id, 'cam-1'))).toEqual({
    ret: 0,
    data: { roomId: room_id, userId: 'cam-1' },
  })
  expect(await userIds(client, room_id)).toEqual([])
  expect(store.all('devices').size).toBe(0)
  expect(await client.outgoing(destroy, camera(room_id, 'cam-1'))).toMatchObject({ ret: 425 })
})

test('destroy: 401 without one of its three parameters, 424 unknown room, 425 not in that room or at another address', async () => {
  const { client } = await liveSite()
  const [here, there] = [await client.createRoom(), await client.createRoom()]
  await client.outgoing(create, camera(here, 'cam-1', { userAddress: 'rtsp://u:p@NVR.local/live' }))
  const ask = (params: Record<string, string>) => client.outgoing(destroy, params)
  const good = { roomId: here, userId: 'cam-1', userAddress: 'rtsp://nvr.local:554/live' }
  for (const name of Object.keys(good)) {
    const { [name]: _, ...rest } = good as Record<string, string>
    expect(await ask(rest), name).toMatchObject({ ret: 401 })
  }
  expect(await ask({ ...good, roomId: 'nowhere' })).toMatchObject({ ret: 424 })
  expect(await ask({ ...good, roomId: there })).toMatchObject({ ret: 425 })
  expect(await ask({ ...good, userId: 'cam-2' })).toMatchObject({ ret: 425 })
  expect(await ask({ ...good, userAddress: 'rtsp://nvr.local:554/other' })).toMatchObject({ ret: 425 })
  expect(await ask(good)).toMatchObject({ ret: 0 })
})

test('destroy: 310 if the MCU does not answer; the outgoing user stays', async () => {
  const { client, node, store, outgoing, until } = await liveSite({ deadlines: { node_ms: 800, device_ms: 800 } })
  const room_id = await client.createRoom()
  await client.outgoing(create, camera(room_id, 'cam-1'))
  node().setFault({ mode: 'silent', delayMs: 0 })
  expect(await client.outgoing(destroy, camera(room_id, 'cam-1'))).toMatchObject({ ret: 310 })
  expect(store.all('devices').size).toBe(1)
  node().setFault({ mode: 'none', delayMs: 0 })
  await until(() => outgoing.view('cam-1')?.state === 'joined')
  expect(await client.outgoing(destroy, camera(room_id, 'cam-1'))).toMatchObject({ ret: 0 })
})

test('list: of one room or of all, in order of creation', async () => {
  const { client } = await liveSite()
  const [here, there] = [await client.createRoom(), await client.createRoom()]
  for (const [roomId, userId] of [
    [there, 'z'],
    [here, 'b'],
    [here, 'a'],
  ] as const) {
    await client.outgoing(create, camera(roomId, userId))
  }
  const listed = async (params: Record<string, string>) => {
    const { data } = (await client.outgoing(list, params)) as {
      ret: number
      data: { total: number; items: { userId: string }[] }
    }
    return [data.total, ...data.items.map(({ userId }) => userId)]
  }
  expect(await listed({})).toEqual([3, 'z', 'b', 'a'])
  expect(await listed({ roomId: '' })).toEqual([3, 'z', 'b', 'a'])
  expect(await listed({ roomId: here })).toEqual([2, 'b', 'a'])
  expect(await listed({ roomId: 'nowhere' })).toEqual([0])
})

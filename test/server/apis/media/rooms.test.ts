import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { camera, liveSite, userIds } from '../../../support/sites/live-site.ts'

const meeting = { topic: 'Morning meeting', owner_id: 'owner-1', room_mode: 1 }
const create = '/rtc/room/create'

test('a new room is read with every field, and fields not set are empty or defaults', async () => {
  const { client } = await liveSite()
  const created = await client.get(create, meeting)
  expect(created).toEqual({ ret: 0, room_id: expect.stringMatching(/^[1-9]\d{8}$/) })
  expect(await client.get('/rtc/room/get', { room_id: String(created.room_id) })).toEqual({
    ret: 0,
    id: expect.any(Number),
    room_id: created.room_id,
    topic: 'Morning meeting',
    room_status: 0,
    owner_id: 'owner-1',
    host_password: '',
    attendee_max: 100,
    max_audio: 16,
    max_video: 16,
    room_extend_id: '',
    room_mode: 1,
  })
})

test('a room keeps all parameters of its creator, and is named by room_extend_id', async () => {
  const { client } = await liveSite()
  const wanted = {
    ...meeting,
    topic: '晨会 & more',
    host_password: 'p+w %/?',
    max_video: 1,
    max_audio: 10_000,
    attendee_max: 1,
    room_extend_id: '2f0c-uuid',
    room_mode: 4,
  }
  expect(await client.get(create, wanted)).toEqual({ ret: 0, room_id: '2f0c-uuid' })
  expect(await client.get('/rtc/room/get', { room_id: '2f0c-uuid' })).toMatchObject({ ...wanted, room_id: '2f0c-uuid' })
})

const malformed: [string, Record<string, string | number>][] = [
  ['no topic', { topic: '' }],
  ['a topic of 150 bytes', { topic: 'x'.repeat(150) }],
  ['a topic of 150 bytes in Chinese', { topic: '会'.repeat(50) }],
  ['no owner_id', { owner_id: '' }],
  ['an owner_id of 129 bytes', { owner_id: 'x'.repeat(129) }],
  ['room_mode 0', { room_mode: 0 }],
  ['room_mode 5', { room_mode: 5 }],
  ['a room_mode that is not a number', { room_mode: 'host' }],
  ['a host_password of 65 bytes', { host_password: 'x'.repeat(65) }],
  ['max_video of 10001', { max_video: 10_001 }],
  ['max_audio below 0', { max_audio: -1 }],
  ['attendee_max below 0', { attendee_max: -1 }],
  ['attendee_max of 1.5', { attendee_max: 1.5 }],
  ['a room_extend_id of 129 bytes', { room_extend_id: 'x'.repeat(129) }],
]

test('407: a room with a missing or malformed parameter is not created', async () => {
  const { client, store } = await liveSite()
  for (const [what, fields] of malformed) {
    const answer = await client.get(create, { ...meeting, ...fields })
    expect(answer, what).toEqual({ ret: 407, msg: expect.any(String) })
  }
  expect(store.all('rooms').size).toBe(0)
})

test('an optional parameter that is empty, and a limit of 0, count as missing: native clients always send every parameter', async () => {
  const { client } = await liveSite()
  const empty = { host_password: '', max_video: '', max_audio: '', attendee_max: '', room_extend_id: '' }
  for (const caps of [{}, { max_video: 0, max_audio: 0, attendee_max: 0 }]) {
    const { room_id, ...created } = await client.get(create, { ...meeting, ...empty, ...caps })
    expect(created).toEqual({ ret: 0 })
    expect(await client.get('/rtc/room/get', { room_id: String(room_id) })).toMatchObject({
      host_password: '',
      max_video: 16,
      max_audio: 16,
      attendee_max: 100,
      room_extend_id: '',
    })
  }
})

test("a room is read by its creator's identifier or by its number; without an identifier only by number", async () => {
  const { client } = await liveSite()
  const read = '/rtc/room/get_by_room_extend_id'
  await client.createRoom({ room_extend_id: '2f0c-uuid', host_password: 'hush' })
  const byNumber = await client.get('/rtc/room/get', { room_id: '2f0c-uuid' })
  expect(byNumber).toMatchObject({ ret: 0, room_extend_id: '2f0c-uuid', host_password: 'hush' })
  expect(await client.get(read, { room_extend_id: '2f0c-uuid' })).toEqual(byNumber)
  const drawn = await client.createRoom()
  for (const room_extend_id of [drawn, 'unknown']) {
    expect(await client.get(read, { room_extend_id })).toEqual({ ret: 404, msg: 'There is no such room.' })
  }
  expect(await client.get(read, { room_extend_id: '' })).toMatchObject({ ret: 407 })
  expect(await client.get(read, { room_extend_id: '2f0c-uuid' }, 'wrong')).toMatchObject({ ret: 602 })
})

test('a topic of 149 bytes fits, also in Chinese', async () => {
  const { client } = await liveSite()
  for (const topic of ['x'.repeat(149), `${'会'.repeat(49)}ab`]) {
    expect(await client.get(create, { ...meeting, topic })).toMatchObject({ ret: 0 })
  }
})

test('parameters are checked before the token, the token before the permission', async () => {
  const { plainClient } = await liveSite()
  expect(await plainClient.get(create, { ...meeting, topic: '', room_mode: 3 }, 'wrong')).toMatchObject({ ret: 407 })
  expect(await plainClient.get(create, { ...meeting, room_mode: 3 }, 'wrong')).toMatchObject({ ret: 602 })
  expect(await plainClient.get(create, meeting, '')).toMatchObject({ ret: 602 })
})

test('unknown parameters of existing clients are ignored', async () => {
  const { client } = await liveSite()
  expect(await client.get(create, { ...meeting, start_time: 1, end_time: 2, room_type: 'x' })).toMatchObject({ ret: 0 })
})

test('407: a room_extend_id is in use, also as a room number, and the answer says so', async () => {
  const { client } = await liveSite()
  const number = await client.createRoom()
  await client.createRoom({ room_extend_id: 'mine' })
  for (const room_extend_id of ['mine', number]) {
    const answer = await client.get(create, { ...meeting, room_extend_id })
    expect(answer).toMatchObject({ ret: 407, msg: expect.stringContaining('room_extend_id exists already') })
  }
})

test('of many clients that create the same room_extend_id at once, one succeeds', async () => {
  const { client, store } = await liveSite()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.get(create, { ...meeting, room_extend_id: 'r' })),
  )
  expect(answers.filter(({ ret }) => ret === 0)).toHaveLength(1)
  expect(answers.filter(({ ret }) => ret === 407)).toHaveLength(19)
  expect(store.all('rooms').size).toBe(1)
})

test('701: peer-to-peer rooms need the permission of the credential', async () => {
  const { client, plainClient, setLicence } = await liveSite()
  for (const room_mode of [3, 4]) {
    expect(await plainClient.get(create, { ...meeting, room_mode })).toMatchObject({ ret: 701 })
    expect(await client.get(create, { ...meeting, room_mode })).toMatchObject({ ret: 0 })
  }
  await setLicence({ expires_at: '2020-01-01' })
  expect(await plainClient.get(create, { ...meeting, room_mode: 3 })).toMatchObject({ ret: 701 })
})

test('405: nothing is created with an expired licence', async () => {
  const { client, store } = await liveSite({ licence: { expires_at: '2020-01-01' } })
  expect(await client.get(create, meeting)).toMatchObject({ ret: 405 })
  expect(store.all('rooms').size).toBe(0)
})

test('411: concurrent calls do not exceed the room limit of the licence, and a deleted room frees a place', async () => {
  const { client, store } = await liveSite({ licence: { max_rooms: 5 } })
  const answers = await Promise.all(Array.from({ length: 30 }, () => client.get(create, meeting)))
  expect(answers.filter(({ ret }) => ret === 0)).toHaveLength(5)
  expect(answers.filter(({ ret }) => ret === 411)).toHaveLength(25)
  // The licence is checked before the operation, so a taken number makes no difference.
  const [roomId = ''] = store.all('rooms').keys()
  expect(await client.get(create, { ...meeting, room_extend_id: roomId })).toMatchObject({ ret: 411 })
  await client.get('/rtc/room/del', { room_id: roomId })
  expect(await client.get(create, meeting)).toMatchObject({ ret: 0 })
})

test('700: a room that cannot be stored does not exist, and the next one does when the disk is back', async () => {
  const { client, stuckDisk } = await liveSite({ deadlines: { store_ms: 1_000 } })
  const roomId = await client.createRoom()
  stuckDisk.begin(10)
  expect(await client.get(create, { ...meeting, room_extend_id: 'lost' })).toEqual({
    ret: 700,
    msg: expect.any(String),
  })
  expect(await client.get('/rtc/room/update', { room_id: roomId, topic: 'Other' })).toMatchObject({ ret: 700 })
  expect(await client.get('/rtc/room/del', { room_id: roomId })).toMatchObject({ ret: 700 })
  expect(await client.get('/rtc/room/get', { room_id: 'lost' })).toMatchObject({ ret: 404 })
  expect(await client.get('/rtc/room/get', { room_id: roomId })).toMatchObject({ ret: 0, topic: 'Morning meeting' })
  stuckDisk.end()
  await expect.poll(async () => (await client.get(create, meeting)).ret).toBe(0)
})

test('a room number is never reused', async () => {
  const { client } = await liveSite()
  const numbers: number[] = []
  for (let round = 0; round < 3; round++) {
    const roomId = await client.createRoom({ room_extend_id: 'again' })
    numbers.push(Number((await client.get('/rtc/room/get', { room_id: roomId })).id))
    await client.get('/rtc/room/del', { room_id: roomId })
  }
  expect(new Set(numbers).size).toBe(3)
})

test('404: every operation on an unknown room', async () => {
  const { client } = await liveSite()
  const calls: [string, Record<string, string>][] = [
    ['/rtc/room/get', {}],
    ['/rtc/room/del', {}],
    ['/rtc/room/update', { topic: 'x' }],
    ['/rtc/room/get_room_info', {}],
    ['/sdk/get_mcu', {}],
    ['/rtc/force_offline_mcu', { user_id: 'ann' }],
  ]
  for (const [path, params] of calls) {
    expect(await client.get(path, { room_id: 'nowhere', ...params })).toMatchObject({ ret: 404 })
    expect(await client.get(path, { room_id: 'nowhere', ...params }, 'wrong')).toMatchObject({ ret: 602 })
    expect(await client.get(path, params)).toMatchObject({ ret: 407 })
    expect(await client.get(path, { ...params, room_id: '' })).toMatchObject({ ret: 407 })
  }
})

test('room_status shows scheduled, open, locked and closed', async () => {
  const { client, join, people, rooms } = await liveSite()
  const room_id = await client.createRoom()
  const status = async () => (await client.get('/rtc/room/get', { room_id })).room_status
  expect(await status()).toBe(0)
  await join(room_id, 'ann')
  expect(await status()).toBe(1)
  await rooms.lock(room_id)
  expect(await status()).toBe(2)
  await rooms.unlock(room_id)
  people.leave(room_id, 'ann')
  expect(await status()).toBe(0)
  await rooms.close(room_id)
  expect(await status()).toBe(3)
  await rooms.reopen(room_id)
  expect(await status()).toBe(0)
})

test('the host password is returned, and is not on disk', async () => {
  const { client, folder, stop } = await liveSite()
  await client.createRoom({ host_password: 'open-sesame-42', room_extend_id: 'guarded' })
  expect(await client.get('/rtc/room/get', { room_id: 'guarded' })).toMatchObject({ host_password: 'open-sesame-42' })
  await stop()
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')))
  expect(texts.join('\n')).toContain('guarded')
  expect(texts.join('\n')).not.toContain('open-sesame-42')
})

test('update changes the given fields, and the room’s MCU receives them at once', async () => {
  const { client, join } = await liveSite()
  const room_id = await client.createRoom({ attendee_max: 1, host_password: 'old' })
  await join(room_id, 'ann')
  expect(await client.get('/rtc/room/update', { room_id, attendee_max: 2, host_password: 'new' })).toEqual({
    ret: 0,
    room_id,
  })
  expect(await client.get('/rtc/room/get', { room_id })).toMatchObject({
    topic: 'Morning meeting',
    attendee_max: 2,
    host_password: 'new',
  })
  expect(await join(room_id, 'bob', 'new')).toMatchObject({ role: 'host' })
  await client.get('/rtc/room/update', { room_id, topic: 'Later', host_password: '', max_video: '' })
  expect(await client.get('/rtc/room/get', { room_id })).toMatchObject({
    topic: 'Later',
    host_password: 'new',
    max_video: 16,
  })
})

test('update: 701 without permission, 407 for a malformed value, 416 for a closed room', async () => {
  const { client, plainClient, rooms } = await liveSite()
  const room_id = await client.createRoom()
  expect(await plainClient.get('/rtc/room/update', { room_id, room_mode: 3 })).toMatchObject({ ret: 701 })
  expect(await client.get('/rtc/room/update', { room_id, max_video: 'many' })).toMatchObject({ ret: 407 })
  expect(await client.get('/rtc/room/update', { room_id, room_mode: 3 })).toMatchObject({ ret: 0 })
  await rooms.close(room_id)
  expect(await client.get('/rtc/room/update', { room_id, topic: 'x' })).toMatchObject({ ret: 416 })
})

test('del removes everybody from the room, users and devices, and frees its MCU', async () => {
  const { client, join, node, outgoing, store, until } = await liveSite()
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))
  expect(await client.get('/rtc/room/del', { room_id })).toEqual({ ret: 0, room_id })
  expect(await client.get('/rtc/room/get', { room_id })).toMatchObject({ ret: 404 })
  expect(store.all('devices').size).toBe(0)
  expect(outgoing.views()).toEqual([])
  await expect.poll(() => node().health(AbortSignal.timeout(1_000))).toEqual({ rooms: 0, users: 0, pulls: 0 })
  await until(() => store.all('rooms').size === 0)
})

test.each(['silent', 'offline', 'failing'] as const)('del does not wait for a node that is %s', async (mode) => {
  const { client, join, node } = await liveSite({ deadlines: { node_ms: 500, health_ms: 500 } })
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  node().setFault({ mode, delayMs: 0 })
  const began = performance.now()
  expect(await client.get('/rtc/room/del', { room_id })).toMatchObject({ ret: 0 })
  expect(performance.now() - began).toBeLessThan(2_000)
  node().setFault({ mode: 'none', delayMs: 0 })
  await expect.poll(() => node().rooms(AbortSignal.timeout(1_000)), { timeout: 8_000 }).toEqual([])
})

test('a closed room is empty, answers 416, and opens again with its devices', async () => {
  const { client, join, outgoing, rooms, until } = await liveSite()
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))
  await rooms.close(room_id)
  expect(await userIds(client, room_id)).toEqual([])
  expect(await client.get('/sdk/get_mcu', { room_id })).toMatchObject({ ret: 416 })
  expect(await client.get('/rtc/force_offline_mcu', { room_id, user_id: 'ann' })).toMatchObject({ ret: 416 })
  expect(outgoing.view('cam-1')).toMatchObject({ state: 'waiting', next_attempt_at: 0 })
  await rooms.reopen(room_id)
  await until(() => outgoing.view('cam-1')?.state === 'joined')
  expect(await userIds(client, room_id)).toEqual(['cam-1'])
})

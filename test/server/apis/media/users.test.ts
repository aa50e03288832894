import { expect, test } from 'vitest'
import { camera, liveSite, userIds } from '../../../support/sites/live-site.ts'

const info = '/rtc/room/get_room_info'
const kick = '/rtc/force_offline_mcu'

test('users are listed in the order they joined, including outgoing users', async () => {
  const { client, join } = await liveSite()
  const room_id = await client.createRoom()
  await join(room_id, 'zoe')
  await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))
  await join(room_id, 'ann')
  expect(await client.get(info, { room_id })).toEqual({
    ret: 0,
    user_list: [
      { user_name: 'Name of zoe', user_id: 'zoe' },
      { user_name: 'Camera cam-1', user_id: 'cam-1' },
      { user_name: 'Name of ann', user_id: 'ann' },
    ],
  })
})

test('a renamed outgoing user is listed under its new name', async () => {
  const { client, outgoing } = await liveSite()
  const room_id = await client.createRoom()
  await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))
  await outgoing.update('cam-1', { userName: 'Front door' })
  expect(await client.get(info, { room_id })).toMatchObject({ user_list: [{ user_name: 'Front door' }] })
})

test('a room without an MCU, or whose MCU is offline, has no users', async () => {
  const { client, join, node, until, pool } = await liveSite()
  const room_id = await client.createRoom()
  expect(await client.get(info, { room_id })).toEqual({ ret: 0, user_list: [] })
  await join(room_id, 'ann')
  node().setFault({ mode: 'offline', delayMs: 0 })
  await until(() => pool.nodes.engine() === 'stopped')
  expect(await client.get(info, { room_id })).toEqual({ ret: 0, user_list: [] })
})

test('the user count of a room matches its list', async () => {
  const { client, join } = await liveSite()
  const room_id = await client.createRoom()
  const count = '/rtc/room/get_user_number'
  expect(await client.get(count, { room_id })).toEqual({ ret: 0, user_count_list: [{ room_id, user_count: 0 }] })
  await join(room_id, 'ann')
  await join(room_id, 'bob')
  expect(await client.get(count, { room_id })).toEqual({ ret: 0, user_count_list: [{ room_id, user_count: 2 }] })
  expect(await client.get(count, { room_id: 'unknown' })).toEqual({ ret: 404, msg: 'There is no such room.' })
  expect(await client.get(count, {})).toMatchObject({ ret: 407 })
})

test('409: the node does not answer in time', async () => {
  const { client, join, node, settings } = await liveSite()
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  settings().deadlines.node_ms = 300
  node().setFault({ mode: 'silent', delayMs: 0 })
  expect(await client.get(info, { room_id })).toMatchObject({ ret: 409 })
  expect(await client.get(kick, { room_id, user_id: 'ann' })).toMatchObject({ ret: 409 })
})

test('a user is forced offline, and the answer says success', async () => {
  const { client, join } = await liveSite()
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  await join(room_id, 'bob')
  expect(await client.get(kick, { room_id, user_id: 'ann' })).toEqual({ ret: 0, msg: 'success' })
  expect(await userIds(client, room_id)).toEqual(['bob'])
})

test('an outgoing user that is forced offline is removed as by destroyOutgoingUser', async () => {
  const { client, outgoing } = await liveSite()
  const room_id = await client.createRoom()
  await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))
  expect(await client.get(kick, { room_id, user_id: 'cam-1' })).toEqual({ ret: 0, msg: 'success' })
  expect(await userIds(client, room_id)).toEqual([])
  expect(outgoing.views()).toEqual([])
})

test('428: the room was never assigned to an MCU', async () => {
  const { client } = await liveSite()
  const room_id = await client.createRoom()
  expect(await client.get(kick, { room_id, user_id: 'ann' })).toMatchObject({ ret: 428 })
})

test('417: the MCU of the room is not online', async () => {
  const { client, join, node, until, pool } = await liveSite()
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  node().setFault({ mode: 'offline', delayMs: 0 })
  await until(() => pool.nodes.engine() === 'stopped')
  expect(await client.get(kick, { room_id, user_id: 'ann' })).toMatchObject({ ret: 417 })
})

test('429: the user is not in the room, also an outgoing user whose device has not joined yet', async () => {
  const { client, join, node, outgoing, until } = await liveSite({
    devices: { reconnect_first_ms: 60_000, reconnect_longest_ms: 60_000 },
  })
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  expect(await client.get(kick, { room_id, user_id: 'bob' })).toMatchObject({ ret: 429 })
  await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))
  node().loseDevice(room_id, 'cam-1', 'closed')
  await until(() => outgoing.view('cam-1')?.state === 'waiting')
  expect(await client.get(kick, { room_id, user_id: 'cam-1' })).toMatchObject({ ret: 429 })
})

test('700: an outgoing user whose removal cannot be stored stays, and rejoins', async () => {
  const { client, stuckDisk, outgoing, until } = await liveSite({ deadlines: { store_ms: 1_000 } })
  const room_id = await client.createRoom()
  await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))
  stuckDisk.begin(10)
  expect(await client.get(kick, { room_id, user_id: 'cam-1' })).toMatchObject({ ret: 700 })
  stuckDisk.end()
  await until(() => outgoing.view('cam-1')?.state === 'joined')
})

test('a locked room admits nobody new, and an unlocked one does', async () => {
  const { client, join, rooms } = await liveSite()
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  await rooms.lock(room_id)
  await expect(join(room_id, 'bob')).rejects.toThrow('locked')
  expect(await userIds(client, room_id)).toEqual(['ann'])
  await rooms.unlock(room_id)
  await join(room_id, 'bob')
  expect(await userIds(client, room_id)).toEqual(['ann', 'bob'])
})

import { expect, test } from 'vitest'
import { camera, liveSite, userIds } from '../../support/sites/live-site.ts'

const offline = { mode: 'offline', delayMs: 0 } as const
const two = { nodes: { a: {}, b: { weight: 1 } } }
const kick = '/rtc/force_offline_mcu'

test('an MCU is killed as a device is about to join: it joins on the next MCU of the room', async () => {
  const { client, node, store } = await liveSite(two)
  const room_id = await client.createRoom()
  await client.get('/sdk/get_mcu', { room_id })
  const own = store.get('rooms', room_id)?.node ?? ''
  node(own).setFault(offline)
  expect(await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))).toMatchObject({ ret: 0 })
  expect(store.get('rooms', room_id)?.node).toBe(own === 'a' ? 'b' : 'a')
  expect(await userIds(client, room_id)).toEqual(['cam-1'])
})

test('an MCU is killed as a user in its room is removed: the room moves, and the user is out', async () => {
  const { client, node, store, join } = await liveSite(two)
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  await join(room_id, 'bob')
  const own = store.get('rooms', room_id)?.node ?? ''
  node(own).setFault(offline)
  expect(await client.get(kick, { room_id, user_id: 'ann' })).toEqual({ ret: 0, msg: 'success' })
  expect(store.get('rooms', room_id)?.node).toBe(own === 'a' ? 'b' : 'a')
  // Forced offline a moment later, somebody was not in the room any more.
  expect(await client.get(kick, { room_id, user_id: 'bob' })).toMatchObject({ ret: 429 })
})

test('the only MCU is killed as it receives a request: the errors say so', async () => {
  const { client, node, join } = await liveSite()
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  node().setFault(offline)
  expect(await client.get(kick, { room_id, user_id: 'ann' })).toMatchObject({ ret: 417 })
  expect(await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))).toMatchObject({ ret: 302 })
})

test('the connection to an MCU breaks and returns: the device joins where the room is', async () => {
  const { client, node, store } = await liveSite(two)
  const room_id = await client.createRoom()
  await client.get('/sdk/get_mcu', { room_id })
  const own = store.get('rooms', room_id)?.node ?? ''
  const driver = node(own)
  const addDevice = driver.addDevice.bind(driver)
  driver.addDevice = async (...call) => {
    driver.addDevice = addDevice
    driver.setFault(offline)
    await addDevice(...call).finally(() => driver.setFault({ mode: 'none', delayMs: 0 }))
  }
  expect(await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))).toMatchObject({ ret: 0 })
  expect(store.get('rooms', room_id)?.node).toBe(own)
  expect(await userIds(client, room_id)).toEqual(['cam-1'])
})

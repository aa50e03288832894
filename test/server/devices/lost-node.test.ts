import { expect, test } from 'vitest'
import { camera, liveSite, userIds } from '../../support/sites/live-site.ts'

const offline = { mode: 'offline', delayMs: 0 } as const
const two = { nodes: { a: {}, b: { weight: 1 } } }
const kick = '/rtc/force_offline_mcu'

test('an MCU dies the moment a device is to join: it joins on the one that the room gets then', async () => {
  const { client, node, store } = await liveSite(two)
  const room_id = await client.createRoom()
  await client.get('/sdk/get_mcu', { room_id })
  const own = store.get('rooms', room_id)?.node ?? ''
  node(own).setFault(offline)
  expect(await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))).toMatchObject({ ret: 0 })
  expect(store.get('rooms', room_id)?.node).toBe(own === 'a' ? 'b' : 'a')
  expect(await userIds(client, room_id)).toEqual(['cam-1'])
})

test('an MCU dies the moment somebody in its room is forced offline: the room moves, and they are out', async () => {
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

test('the only MCU dies the moment it is asked: the errors say so', async () => {
  const { client, node, join } = await liveSite()
  const room_id = await client.createRoom()
  await join(room_id, 'ann')
  node().setFault(offline)
  expect(await client.get(kick, { room_id, user_id: 'ann' })).toMatchObject({ ret: 417 })
  expect(await client.outgoing('createOutgoingUser', camera(room_id, 'cam-1'))).toMatchObject({ ret: 302 })
})

test('the connection to an MCU breaks and comes back: the device joins where the room is', async () => {
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

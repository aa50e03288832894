import { expect, test } from 'vitest'
import { camera, liveSite } from '../../support/sites/live-site.ts'

test('an operator sees the history of a device: joined, lost, failed repeatedly for one reason, joined again, paused', async () => {
  const site = await liveSite({})
  const roomId = await site.client.createRoom()
  expect(await site.client.outgoing('createOutgoingUser', camera(roomId, 'cam-1'))).toMatchObject({ ret: 0 })
  site.node().setDeviceFaults([{ match: 'cam-1', kind: 'refused' }])
  site.node().loseDevice(roomId, 'cam-1', 'closed')
  await site.until(() => (site.outgoing.view('cam-1')?.retries ?? 0) >= 3)
  site.node().setDeviceFaults([])
  await site.until(() => site.outgoing.view('cam-1')?.state === 'joined')
  await site.outgoing.pause('cam-1')
  const history = site.outgoing.history.of('cam-1')
  expect(history.map(({ state, kind }) => kind ?? state)).toEqual(['paused', 'joined', 'refused', 'closed', 'joined'])
  const [, , refused] = history
  expect(refused?.times).toBeGreaterThanOrEqual(3)
  expect(refused?.until).toBeGreaterThan(refused?.at ?? 0)
})

test('a deleted device has no history', async () => {
  const site = await liveSite({})
  const roomId = await site.client.createRoom()
  await site.client.outgoing('createOutgoingUser', camera(roomId, 'cam-1'))
  await site.outgoing.remove('cam-1')
  expect(site.outgoing.history.of('cam-1')).toEqual([])
})

test('the outage of a device that keeps failing begins at its loss, not at the last attempt', async () => {
  const site = await liveSite({})
  const roomId = await site.client.createRoom()
  await site.client.outgoing('createOutgoingUser', camera(roomId, 'cam-1'))
  site.node().setDeviceFaults([{ match: 'cam-1', kind: 'refused' }])
  site.node().loseDevice(roomId, 'cam-1', 'closed')
  await site.until(() => site.outgoing.view('cam-1')?.state === 'waiting')
  const lost = site.outgoing.view('cam-1')?.since
  await site.until(() => (site.outgoing.view('cam-1')?.retries ?? 0) >= 3)
  expect(site.outgoing.view('cam-1')?.since).toBe(lost)
})

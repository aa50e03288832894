import { Deadline } from '../../../shared/deadline.ts'
import { parseDeviceAddress } from '../../../shared/device-address.ts'
import { expect, test, vi } from 'vitest'
import { passwordOf } from '../../support/stored-records.ts'
import { camera, type LiveSite, liveSite, userIds } from '../../support/sites/live-site.ts'
import type { DeviceView } from '../../../shared/domain/devices.ts'
import { quietTime } from '../../support/quiet-time.ts'

const calm = { reconnect_first_ms: 60_000, reconnect_longest_ms: 60_000 }
const stateOf = ({ outgoing }: LiveSite, userId = 'cam-1'): DeviceView['state'] | undefined =>
  outgoing.view(userId)?.state

/** Starts a site with a room and a joined outgoing user. */
async function siteWithCamera(options: Parameters<typeof liveSite>[0] = {}) {
  const site = await liveSite(options)
  const roomId = await site.client.createRoom()
  const answer = await site.client.outgoing('createOutgoingUser', camera(roomId, 'cam-1'))
  expect(answer).toMatchObject({ ret: 0 })
  return { site, roomId }
}

test('a device that drops is reported with its reason, is out of the room meanwhile, and rejoins', async () => {
  const { site, roomId } = await siteWithCamera({ devices: calm })
  site.node().loseDevice(roomId, 'cam-1', 'stalled')
  await site.until(() => stateOf(site) === 'waiting')
  expect(site.outgoing.view('cam-1')).toMatchObject({
    last_error: { kind: 'stalled', message: 'The device stopped sending media.' },
    retries: 0,
    next_attempt_at: expect.any(Number),
  })
  expect(await userIds(site.client, roomId)).toEqual([])
  site.outgoing.retry('cam-1')
  await site.until(() => stateOf(site) === 'joined')
  expect(site.outgoing.view('cam-1')).toMatchObject({ last_error: null, retries: 0, next_attempt_at: 0 })
  expect(await userIds(site.client, roomId)).toEqual(['cam-1'])
})

test('a device that cannot rejoin is retried, and its attempts are counted', async () => {
  const { site, roomId } = await siteWithCamera()
  site.node().setDeviceFaults([{ match: 'cam-1', kind: 'refused' }])
  site.node().loseDevice(roomId, 'cam-1', 'closed')
  await site.until(() => (site.outgoing.view('cam-1')?.retries ?? 0) >= 3)
  expect(site.outgoing.view('cam-1')?.last_error?.kind).toBe('refused')
  expect(site.outgoing.fleet.countByState().joined).toBe(0)
  site.node().setDeviceFaults([])
  await site.until(() => stateOf(site) === 'joined')
})

test('a login refused three times is held with its reason through changes of room and node, until the operator retries or changes it', async () => {
  const { site, roomId } = await siteWithCamera()
  site.node().setDeviceFaults([{ match: 'cam-1', kind: 'auth' }])
  site.node().loseDevice(roomId, 'cam-1', 'closed')
  const held = { state: 'waiting', retries: 3, next_attempt_at: 0, last_error: { kind: 'auth' } }
  await site.until(() => site.outgoing.view('cam-1')?.retries === 3)
  expect(site.outgoing.view('cam-1')).toMatchObject(held)

  await site.rooms.close(roomId)
  await site.rooms.reopen(roomId)
  const online = new Promise<void>((resolve) => {
    const stop = site.pool.events.subscribe((event) => {
      if (event.type === 'online') resolve(stop())
    })
  })
  site.node().setFault({ mode: 'offline', delayMs: 0 })
  await site.until(() => site.pool.nodes.engine() === 'stopped')
  site.node().setFault({ mode: 'none', delayMs: 0 })
  await online
  expect(site.outgoing.view('cam-1')).toMatchObject(held)

  site.outgoing.retry('cam-1')
  await site.until(() => site.outgoing.view('cam-1')?.retries === 4)
  expect(site.outgoing.view('cam-1')).toMatchObject({ ...held, retries: 4 })
  site.node().setDeviceFaults([])
  await site.outgoing.update('cam-1', { login_password: 'the right one' })
  await site.until(() => stateOf(site) === 'joined')
})

test('after a restart every outgoing user rejoins its room', async () => {
  const { site, roomId } = await siteWithCamera()
  await site.outgoing.creation.add({ ...camera(roomId, 'paused'), userData: '' } as never)
  await site.outgoing.pause('paused')
  await site.stop()
  const again = await liveSite({ folder: site.folder })
  await again.until(() => stateOf(again) === 'joined')
  expect(await userIds(again.client, roomId)).toEqual(['cam-1'])
  expect(stateOf(again, 'paused')).toBe('paused')
})

test('when its node is lost, a device joins on another one with its room at once, without waiting for its next attempt', async () => {
  const { site, roomId } = await siteWithCamera({ nodes: { a: {}, b: {} }, devices: calm })
  expect(site.store.get('rooms', roomId)?.node).toBe('a')
  site.node('a').setFault({ mode: 'offline', delayMs: 0 })
  await site.until(() => stateOf(site) !== 'joined')
  await site.until(() => stateOf(site) === 'joined')
  expect(site.store.get('rooms', roomId)?.node).toBe('b')
})

test('when its only node returns, a device joins at once, without waiting for its next attempt', async () => {
  const { site } = await siteWithCamera({ devices: calm })
  site.node().setFault({ mode: 'offline', delayMs: 0 })
  await site.until(() => stateOf(site) === 'waiting')
  expect(site.outgoing.view('cam-1')?.last_error?.kind).toBe('nodeFailed')
  site.node().setFault({ mode: 'none', delayMs: 0 })
  await site.until(() => stateOf(site) === 'joined')
})

test('a device that waited for a locked or full room joins when there is space', async () => {
  const site = await liveSite({ devices: calm })
  const roomId = await site.client.createRoom({ attendee_max: 1 })
  await site.join(roomId, 'ann')
  await site.outgoing.creation.add({ ...camera(roomId, 'cam-1'), userData: '' } as never)
  await site.until(() => site.outgoing.view('cam-1')?.last_error?.kind === 'roomFull')
  await site.rooms.update(roomId, { attendee_max: 2 }, '')
  await site.until(() => stateOf(site) === 'joined')
})

test('a paused device leaves the room and stays in the list; resumed it joins', async () => {
  const { site, roomId } = await siteWithCamera()
  await site.outgoing.pause('cam-1')
  expect(stateOf(site)).toBe('paused')
  await expect.poll(() => userIds(site.client, roomId)).toEqual([])
  expect(() => site.outgoing.retry('cam-1')).toThrow('paused')
  expect(await site.client.outgoing('getOutgoingUsers')).toMatchObject({ data: { total: 1 } })
  await site.outgoing.resume('cam-1')
  await site.until(() => stateOf(site) === 'joined')
})

test('a device paused during an attempt does not join', async () => {
  const { site, roomId } = await siteWithCamera()
  site.node().loseDevice(roomId, 'cam-1', 'closed')
  site.node().setFault({ mode: 'slow', delayMs: 100 })
  await site.until(() => stateOf(site) === 'joining')
  await site.outgoing.pause('cam-1')
  site.node().setFault({ mode: 'none', delayMs: 0 })
  await quietTime(200)
  expect(await userIds(site.client, roomId)).toEqual([])
  expect(stateOf(site)).toBe('paused')
})

test('a moved device leaves one room and joins the other', async () => {
  const { site, roomId } = await siteWithCamera()
  const other = await site.client.createRoom()
  await site.outgoing.update('cam-1', { roomId: other })
  await site.until(() => stateOf(site) === 'joined')
  expect(await userIds(site.client, other)).toEqual(['cam-1'])
  await expect.poll(() => userIds(site.client, roomId)).toEqual([])
  expect([...site.outgoing.byRoom.of(other)]).toEqual(['cam-1'])
  await expect(site.outgoing.update('cam-1', { roomId: 'nowhere' })).rejects.toThrow('no such room')
})

test('a corrected login or address makes a device rejoin; another name does not', async () => {
  const { site, roomId } = await siteWithCamera()
  const since = () => site.pool.presence.user(roomId, 'cam-1')?.joinedAt
  const before = since()
  await site.outgoing.update('cam-1', { userName: 'Front door', userData: 'x' })
  expect(stateOf(site)).toBe('joined')
  expect(since()).toBe(before)
  await site.outgoing.update('cam-1', { userAddress: 'rtsp://admin:new@10.0.0.9/live' })
  await site.until(() => stateOf(site) === 'joined' && site.pool.presence.user(roomId, 'cam-1') !== undefined)
  const stored = site.store.get('devices', 'cam-1')
  expect(stored).toMatchObject({ userAddress: 'rtsp://10.0.0.9/live', options: { login_name: 'admin' } })
  const sealed = stored?.login_password_sealed
  expect(passwordOf(site.store, 'cam-1')).toBe('new')
  await site.outgoing.update('cam-1', { login_password: '******', login_name: 'root' })
  expect(site.store.get('devices', 'cam-1')).toMatchObject({
    options: { login_name: 'root' },
    login_password_sealed: sealed,
  })
  await site.outgoing.update('cam-1', { login_password: '', login_name: '' })
  expect(site.store.get('devices', 'cam-1')).toMatchObject({ options: {}, login_password_sealed: '' })
})

test('a device added by the operator is stored at once and joins in the background; a missing userId is generated', async () => {
  const site = await liveSite()
  const roomId = await site.client.createRoom()
  site.node().setDeviceFaults([{ match: '', kind: 'unreachable' }])
  const { userId } = await site.outgoing.creation.add({
    roomId,
    userName: 'Yard',
    userAddress: 'rtsp://u:p@10.0.0.7',
    userData: '',
  })
  expect(userId).toMatch(/^device-[0-9a-f]{8}$/)
  expect(site.outgoing.view(userId)).toMatchObject({ options: { login_name: 'u', login_password: '******' } })
  await site.until(() => site.outgoing.view(userId)?.last_error?.kind === 'unreachable')
  await expect(
    site.outgoing.creation.addJoined({ roomId, userName: 'x', userAddress: 'rtsp://10.0.0.6', userData: '' }),
  ).rejects.toThrow('cannot be reached')
  site.node().setDeviceFaults([])
  await site.until(() => stateOf(site, userId) === 'joined')
})

test('a device that is not in the store is removed from its room', async () => {
  const { site, roomId } = await siteWithCamera()
  const stray = {
    userId: 'stray',
    userName: 'x',
    address: parseDeviceAddress('rtsp://10.0.0.1'),
    assistAddress: undefined,
    login: undefined,
  }
  await site.node().addDevice(roomId, stray, Deadline.in(1_000))
  await expect.poll(() => userIds(site.client, roomId)).toEqual(['cam-1'])
})

test('a room deleted while a device joins leaves no outgoing user', async () => {
  const site = await liveSite()
  const roomId = await site.client.createRoom()
  await site.client.get('/sdk/get_mcu', { room_id: roomId })
  site.node().setFault({ mode: 'slow', delayMs: 300 })
  const called = vi.spyOn(site.node(), 'addDevice')
  const joining = site.client.outgoing('createOutgoingUser', camera(roomId, 'cam-1'))
  await expect.poll(() => called.mock.calls.length).toBe(1)
  expect(await site.client.get('/rtc/room/del', { room_id: roomId })).toMatchObject({ ret: 0 })
  expect((await joining).ret).not.toBe(0)
  expect(site.store.all('devices').size).toBe(0)
  site.node().setFault({ mode: 'none', delayMs: 0 })
  await expect
    .poll(() => site.node().health(AbortSignal.timeout(1_000)), { timeout: 8_000 })
    .toMatchObject({ users: 0, pulls: 0 })
})

test('concurrent pausing, moving and deleting never leaves an outgoing user without its room', async () => {
  const site = await liveSite()
  for (let round = 0; round < 10; round++) {
    const [from, to] = [await site.client.createRoom(), await site.client.createRoom()]
    await site.client.outgoing('createOutgoingUser', camera(from, 'cam-1'))
    await Promise.allSettled([
      site.outgoing.pause('cam-1'),
      site.outgoing.update('cam-1', { roomId: to }),
      site.rooms.delete(from),
      site.outgoing.resume('cam-1'),
    ])
    const device = site.store.get('devices', 'cam-1')
    if (device !== undefined) expect(site.store.get('rooms', device.roomId)).toBeDefined()
    await site.rooms.delete(to)
    expect(site.store.get('devices', 'cam-1')).toBeUndefined()
  }
})

test('a probe of a site without real nodes says that it is simulated', async () => {
  const site = await liveSite()
  expect(await site.outgoing.probe({ userAddress: 'rtsp://admin:p@10.0.0.8/live' })).toMatchObject({
    ok: true,
    simulated: true,
    tracks: [],
  })
  await expect(site.outgoing.probe({ userAddress: 'http://x' })).rejects.toThrow('rtsp://')
})

test('an unexpected error is logged in full and affects one device only: it and the others continue', async () => {
  const { site, roomId } = await siteWithCamera()
  expect(await site.client.outgoing('createOutgoingUser', camera(roomId, 'cam-2'))).toMatchObject({ ret: 0 })
  const told: string[] = []
  site.outgoing.fleet.onChange((userId) => {
    if (userId === 'cam-1') throw new TypeError('nobody foresaw this')
  })
  site.outgoing.fleet.onChange((userId) => void told.push(userId))
  for (const userId of ['cam-1', 'cam-2']) site.node().loseDevice(roomId, userId, 'stalled')
  await site.until(() => stateOf(site) === 'waiting' || stateOf(site) === 'joining')
  await site.until(() => stateOf(site) === 'joined' && stateOf(site, 'cam-2') === 'joined')
  expect(new Set(told)).toEqual(new Set(['cam-1', 'cam-2']))
  const line = site.logged.find((text) => text.includes('nobody foresaw this'))
  expect(line).toContain('cam-1')
  expect(line).toContain('outgoing-life.test.ts')
})

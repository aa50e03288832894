import { SimulatedNode } from '../../../server/nodes/simulated/simulated-node.ts'
import { sleep } from '../../../shared/sleep.ts'
import { Deadline } from '../../../shared/deadline.ts'
import { expect, test } from 'vitest'
import { camera, isOf, poolSite, stateIs } from '../../support/sites/pool-site.ts'

const silent = { mode: 'silent', delayMs: 0 } as const
const offline = { mode: 'offline', delayMs: 0 } as const

test('users are listed in the order they joined, including devices, from memory or from the node', async () => {
  const { pool, node } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  node('main').joinPerson('r1', { userId: 'zoe', userName: 'Zoe' })
  await pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  expect(pool.presence.usersOf('r1').map((user) => user.userId)).toEqual(['zoe', 'door', 'ann'])
  expect(await pool.calls.users('r1')).toEqual(pool.presence.usersOf('r1'))
  expect(pool.presence.totals()).toEqual({ people: 2, devices: 1 })
  expect([pool.presence.count('r1'), pool.presence.occupied('r1'), pool.presence.occupied('r2')]).toEqual([
    3,
    true,
    false,
  ])
})

test('a kicked user is out, and an unknown one is reported', async () => {
  const { pool, node, told } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  const ann = node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  expect(await pool.calls.kick('r1', 'ann')).toBe(true)
  expect(await pool.calls.kick('r1', 'ann')).toBe(false)
  expect(pool.presence.usersOf('r1')).toEqual([])
  expect(told).toContainEqual({ type: 'left', name: 'main', roomId: 'r1', user: ann })
})

test('a call distinguishes no room, never assigned, offline and no answer', async () => {
  const { pool, node, next } = await poolSite({
    nodes: { a: {}, b: {} },
    rooms: { r1: { node: 'a' }, r2: { node: 'b' }, r3: {}, r4: { node: 'gone' } },
    deadlines: { node_ms: 60 },
  })
  const lost = next(stateIs('b', 'offline'))
  node('b').setFault(offline)
  await lost
  await expect(pool.calls.kick('r9', 'ann')).rejects.toMatchObject({ code: 'roomNotFound' })
  await expect(pool.calls.kick('r3', 'ann')).rejects.toMatchObject({ code: 'neverAssigned' })
  await expect(pool.calls.kick('r2', 'ann')).rejects.toMatchObject({ code: 'nodeOffline' })
  await expect(pool.calls.kick('r4', 'ann')).rejects.toMatchObject({ code: 'nodeOffline' })
  node('a').setFault(silent)
  await expect(pool.calls.kick('r1', 'ann')).rejects.toMatchObject({ code: 'nodeTimeout' })
})

test("a node's refusal is answered in plain words; the node's own message is logged", async () => {
  const { pool, node, logged } = await poolSite({ rooms: { r1: {} }, deadlines: { health_interval_ms: 5_000 } })
  await pool.callerNodes.nodeFor('r1')
  node('main').setFault({ mode: 'failing', delayMs: 0 })
  const failure = await pool.calls.kick('r1', 'ann').catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'nodeOffline', message: 'The MCU of this room could not do this: try again.' })
  expect(logged).toContain('a node refused a call')
})

test('an unexpected failure is logged in full and answered generically', async () => {
  const { pool, node, logged } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  node('main').kick = () => Promise.reject(new TypeError('x is not a function'))
  await expect(pool.calls.kick('r1', 'ann')).rejects.toMatchObject({ code: 'internal' })
  expect(logged).toContain('a call to a node failed in an unexpected way')
})

test('a caller that gives up gets its own reason back', async () => {
  const { pool, node } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  node('main').setFault(silent)
  const caller = new AbortController()
  const call = pool.calls.kick('r1', 'ann', caller.signal)
  caller.abort(new Error('client went away'))
  await expect(call).rejects.toThrow('client went away')
})

test('a change of the room reaches its node; without a node there is no call', async () => {
  const { pool, node, changeRoom } = await poolSite({ rooms: { r1: {}, r2: {} } })
  await pool.callerNodes.nodeFor('r1')
  await changeRoom('r1', { attendee_max: 1 })
  await pool.calls.update('r1')
  await pool.calls.update('r2')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  expect(() => node('main').joinPerson('r1', { userId: 'bob', userName: 'Bob' })).toThrow('full')
})

test('users leave a deleted room at once and it is closed on its node, before or after its record is deleted', async () => {
  const { pool, node, removeRoom, told } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  await pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))
  await removeRoom('r1')
  expect(pool.presence.usersOf('r1')).toEqual([])
  await pool.calls.close('r1')
  expect(await node('main').rooms(new AbortController().signal)).toEqual([])
  expect(told.filter((event) => event.type === 'left')).toHaveLength(2)
  expect(told.filter((event) => event.type === 'deviceLost')).toEqual([])
  expect(pool.presence.totals()).toEqual({ people: 0, devices: 0 })
})

test('a room whose record is deleted is closed on its node without a call', async () => {
  const { pool, node, removeRoom } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  const closed = Promise.withResolvers<string>()
  node('main').closeRoom = async (roomId) => closed.resolve(roomId)
  await removeRoom('r1')
  expect(await closed.promise).toBe('r1')
})

test('a room created again with the same id opens after the old one has closed', async () => {
  const { pool, node, removeRoom, addRoom } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  node('main').setFault({ mode: 'slow', delayMs: 30 })
  await removeRoom('r1')
  const closing = pool.calls.close('r1')
  await addRoom('r1', { id: 2 })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('main')
  await closing
  node('main').setFault({ mode: 'none', delayMs: 0 })
  expect(await pool.calls.users('r1')).toEqual([])
  node('main').joinPerson('r1', { userId: 'bob', userName: 'Bob' })
  expect(pool.presence.usersOf('r1').map((user) => user.userId)).toEqual(['bob'])
})

test('a room that could not be closed in time is closed when the node answers again', async () => {
  const { pool, node, removeRoom } = await poolSite({ rooms: { r1: {} }, deadlines: { node_ms: 60 } })
  await pool.callerNodes.nodeFor('r1')
  await removeRoom('r1')
  const closed = Promise.withResolvers<true>()
  const { closeRoom } = node('main')
  let calls = 0
  node('main').closeRoom = async (roomId, signal) => {
    calls += 1
    if (calls === 1) return new Promise(() => undefined)
    await closeRoom.call(node('main'), roomId, signal)
    closed.resolve(true)
  }
  await expect(pool.calls.close('r1')).rejects.toMatchObject({ code: 'nodeTimeout' })
  await closed.promise
  expect(await node('main').rooms(new AbortController().signal)).toEqual([])
})

test('closing a room on an offline node does not wait for an answer', async () => {
  const { pool, node, next } = await poolSite({ rooms: { r1: {}, r2: {} } })
  await pool.callerNodes.nodeFor('r1')
  const lost = next(stateIs('main', 'offline'))
  node('main').setFault(offline)
  await lost
  await pool.calls.close('r1')
  await pool.calls.close('r2')
})

test('the reason why a device cannot join passes through', async () => {
  const { pool, node } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  node('main').setDeviceFaults([{ match: '', kind: 'auth' }])
  await expect(pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))).rejects.toMatchObject({
    name: 'DeviceJoinError',
    kind: 'auth',
  })
})

test('a silent device is distinguished from a silent node', async () => {
  const { pool, node } = await poolSite({ rooms: { r1: {} }, deadlines: { device_ms: 150 } })
  await pool.callerNodes.nodeFor('r1')
  node('main').setDeviceFaults([{ match: '', kind: 'silent' }])
  await expect(pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))).rejects.toMatchObject({
    kind: 'timeout',
  })
})

test('a node that never answers a device join is a node timeout', async () => {
  const { pool, node } = await poolSite({ rooms: { r1: {} }, deadlines: { device_ms: 80 } })
  await pool.callerNodes.nodeFor('r1')
  node('main').setFault(silent)
  await expect(pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))).rejects.toMatchObject({
    code: 'nodeTimeout',
  })
})

test('a node that does not open the room in time is a node timeout although it answers polls: the device was not called', async () => {
  const { pool } = await poolSite({
    rooms: { r1: { node: 'main' } },
    prepare: (node) => (node.openRoom = () => new Promise(() => undefined)),
  })
  await expect(pool.calls.addDevice('r1', camera('door'), Deadline.in(300))).rejects.toMatchObject({
    code: 'nodeTimeout',
  })
})

test('nodes of a room that are asked one after the other share one deadline', async () => {
  const { pool } = await poolSite({
    nodes: { main: { kind: 'janus' }, second: { kind: 'janus' } },
    rooms: { r1: { node: 'main', branches: ['second'] } },
    deadlines: { node_ms: 800 },
    driver: () => {
      const node = new SimulatedNode()
      node.kick = () => sleep(600).then(() => false)
      return node
    },
  })
  const began = performance.now()
  expect(await pool.calls.kick('r1', 'ann')).toBe(false)
  expect(performance.now() - began).toBeLessThan(1_100)
})

test('a device that drops is reported; its removal is not a loss', async () => {
  const { pool, node, next, told } = await poolSite({ rooms: { r1: {} } })
  await expect(pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))).rejects.toMatchObject({
    code: 'neverAssigned',
  })
  await pool.callerNodes.nodeFor('r1')
  await pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))
  const lost = next(isOf('deviceLost', 'main'))
  node('main').loseDevice('r1', 'door', 'stalled')
  expect(await lost).toMatchObject({ roomId: 'r1', userId: 'door', kind: 'stalled' })
  expect(pool.presence.user('r1', 'door')).toBeUndefined()
  await pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))
  await pool.calls.removeDevice('r1', 'door')
  await pool.calls.removeDevice('r1', 'door')
  expect(told.filter((event) => event.type === 'deviceLost')).toHaveLength(1)
  expect(told.filter((event) => event.type === 'left')).toHaveLength(2)
})

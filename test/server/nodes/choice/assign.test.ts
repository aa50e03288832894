import { expect, test } from 'vitest'
import { isOf, poolSite, stateIs } from '../../../support/sites/pool-site.ts'
import { sealedPlaceOf } from '../../../../server/store/sealed-places.ts'

const offline = { mode: 'offline', delayMs: 0 } as const
const silent = { mode: 'silent', delayMs: 0 } as const
const failing = { mode: 'failing', delayMs: 0 } as const
const none = { mode: 'none', delayMs: 0 } as const

test('a room gets a node, which opens it, and the assignment is stored before the answer', async () => {
  const { pool, store, node } = await poolSite({ rooms: { r1: { attendee_max: 1 } } })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('main')
  expect(store.get('rooms', 'r1')?.node).toBe('main')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  expect(() => node('main').joinPerson('r1', { userId: 'bob', userName: 'Bob' })).toThrow('full')
  expect(pool.presence.usersOf('r1').map((user) => user.userId)).toEqual(['ann'])
})

test('the node knows the host password of the room', async () => {
  const { pool, store, node, addRoom } = await poolSite()
  await addRoom('r1', { host_password_sealed: store.seal('hunter2', sealedPlaceOf('rooms', 'r1')) })
  await pool.callerNodes.nodeFor('r1')
  const ann = node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann', hostPassword: 'hunter2' })
  expect(ann.role).toBe('host')
})

test('a room stays on its node even if another one has less load', async () => {
  const { pool, node, addNode, next } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  const ready = next(isOf('online', 'second'))
  await addNode('second')
  await ready
  expect(await pool.callerNodes.nodeFor('r1')).toBe('main')
})

test('new rooms spread over the nodes by rooms and then by users', async () => {
  const { pool, node } = await poolSite({ nodes: { a: {}, b: {} }, rooms: { r1: {}, r2: {}, r3: {} } })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('a')
  expect(await pool.callerNodes.nodeFor('r2')).toBe('b')
  node('a').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  expect(await pool.callerNodes.nodeFor('r3')).toBe('b')
})

test('rooms assigned at the same time are distributed as well', async () => {
  const { pool } = await poolSite({ nodes: { a: {}, b: {} }, rooms: { r1: {}, r2: {}, r3: {}, r4: {} } })
  const names = await Promise.all(['r1', 'r2', 'r3', 'r4'].map((roomId) => pool.callerNodes.nodeFor(roomId)))
  expect(names.sort()).toEqual(['a', 'a', 'b', 'b'])
})

test('the room limit also holds for rooms assigned at the same time', async () => {
  const { pool } = await poolSite({ nodes: { a: { max_rooms: 2 } }, rooms: { r1: {}, r2: {}, r3: {} } })
  const results = await Promise.allSettled(['r1', 'r2', 'r3'].map((roomId) => pool.callerNodes.nodeFor(roomId)))
  expect(results.filter((result) => result.status === 'rejected')).toMatchObject([
    { reason: { code: 'licenceExceeded' } },
  ])
})

test('a deleted room frees a place', async () => {
  const { pool, removeRoom } = await poolSite({ nodes: { a: { max_rooms: 1 } }, rooms: { r1: {}, r2: {} } })
  await pool.callerNodes.nodeFor('r1')
  await expect(pool.callerNodes.nodeFor('r2')).rejects.toMatchObject({ code: 'licenceExceeded' })
  await removeRoom('r1')
  expect(await pool.callerNodes.nodeFor('r2')).toBe('a')
})

test('the user limit counts people and devices in all rooms of the node', async () => {
  const { pool, node } = await poolSite({ nodes: { a: { max_users: 1 } }, rooms: { r1: {}, r2: {} } })
  await pool.callerNodes.nodeFor('r1')
  node('a').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  await expect(pool.callerNodes.nodeFor('r2')).rejects.toMatchObject({ code: 'licenceExceeded' })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('a')
  node('a').leavePerson('r1', 'ann')
  expect(await pool.callerNodes.nodeFor('r2')).toBe('a')
})

test('the requested idc_code is preferred', async () => {
  const { pool } = await poolSite({ nodes: { a: {}, b: { idc_code: 'bj' } }, rooms: { r1: {}, r2: {} } })
  expect(await pool.callerNodes.nodeFor('r1', { idcCode: 'bj' })).toBe('b')
  expect(await pool.callerNodes.nodeFor('r2', { idcCode: 'sh' })).toBe('a')
})

test('without any enabled, online node the answer is 410, not 411', async () => {
  const { pool } = await poolSite({ nodes: { a: { enabled: false } }, rooms: { r1: {} } })
  await expect(pool.callerNodes.nodeFor('r1')).rejects.toMatchObject({ code: 'noNode' })
})

test('a room that does not exist or is closed is not assigned', async () => {
  const { pool } = await poolSite({ rooms: { r1: { closed: true } } })
  await expect(pool.callerNodes.nodeFor('r2')).rejects.toMatchObject({ code: 'roomNotFound' })
  await expect(pool.callerNodes.nodeFor('r1')).rejects.toMatchObject({ code: 'roomClosed' })
})

test('concurrent requests for one room share one attempt', async () => {
  let opened = 0
  const { pool, store } = await poolSite({
    nodes: { a: {}, b: {} },
    rooms: { r1: {} },
    prepare(node) {
      const openRoom = node.openRoom.bind(node)
      node.openRoom = (room, signal) => {
        opened += 1
        return openRoom(room, signal)
      }
    },
  })
  let stored = 0
  store.onChange(() => {
    stored += 1
  })
  const names = await Promise.all(Array.from({ length: 50 }, () => pool.callerNodes.nodeFor('r1')))
  expect(new Set(names)).toEqual(new Set(['a']))
  expect([opened, stored]).toEqual([1, 1])
  await pool.callerNodes.nodeFor('r1')
  expect([opened, stored]).toEqual([1, 1])
})

test('a caller that gives up does not end the attempt of the others', async () => {
  const { pool, node } = await poolSite({ rooms: { r1: {} } })
  node('main').setFault({ mode: 'slow', delayMs: 60 })
  const caller = new AbortController()
  const first = pool.callerNodes.nodeFor('r1', {}, caller.signal)
  const second = pool.callerNodes.nodeFor('r1')
  caller.abort(new Error('given up'))
  await expect(first).rejects.toThrow('given up')
  expect(await second).toBe('main')
})

test('a node that refuses is skipped for the next one', async () => {
  const { pool, node, logged } = await poolSite({
    nodes: { a: {}, b: {} },
    rooms: { r1: {} },
    deadlines: { health_interval_ms: 5_000 },
  })
  node('a').setFault(failing)
  expect(await pool.callerNodes.nodeFor('r1')).toBe('b')
  expect(logged).toContain('a node did not take a room')
})

test('when every node refuses there is none, even if others are at their limit', async () => {
  const { pool, node } = await poolSite({
    nodes: { a: {}, full: { max_rooms: 1 } },
    rooms: { r1: {}, r2: { node: 'full' } },
    deadlines: { health_interval_ms: 5_000 },
  })
  node('a').setFault(failing)
  await expect(pool.callerNodes.nodeFor('r1')).rejects.toMatchObject({ code: 'noNode' })
})

test('a silent node costs only the deadline, and leaves no assignment behind', async () => {
  const { pool, node, store } = await poolSite({
    rooms: { r1: {} },
    deadlines: { node_ms: 100, health_interval_ms: 5_000 },
  })
  node('main').setFault(silent)
  const start = performance.now()
  await expect(pool.callerNodes.nodeFor('r1')).rejects.toMatchObject({ code: 'nodeTimeout' })
  expect(performance.now() - start).toBeLessThan(2_000)
  expect(store.get('rooms', 'r1')?.node).toBe('')
})

test('when the disk refuses, the room is not assigned and does not stay on the node', async () => {
  const { pool, node, stuckDisk, settings } = await poolSite({ rooms: { r1: {} }, deadlines: { store_ms: 1_000 } })
  stuckDisk.begin(10)
  const closed = Promise.withResolvers<string>()
  const { closeRoom } = node('main')
  node('main').closeRoom = (roomId, signal) => {
    closed.resolve(roomId)
    return closeRoom.call(node('main'), roomId, signal)
  }
  await expect(pool.callerNodes.nodeFor('r1')).rejects.toMatchObject({ code: 'storage' })
  expect(await closed.promise).toBe('r1')
  settings.deadlines.store_ms = 5_000
  stuckDisk.end()
  expect(await pool.callerNodes.nodeFor('r1')).toBe('main')
})

test('a room deleted during its assignment is not found and does not stay on the node', async () => {
  const { pool, node, removeRoom } = await poolSite({ rooms: { r1: {} } })
  node('main').setFault({ mode: 'slow', delayMs: 50 })
  const closed = Promise.withResolvers<string>()
  const { closeRoom } = node('main')
  node('main').closeRoom = async (roomId, signal) => {
    await closeRoom.call(node('main'), roomId, signal)
    closed.resolve(roomId)
  }
  const assigned = pool.callerNodes.nodeFor('r1')
  await removeRoom('r1')
  await expect(assigned).rejects.toMatchObject({ code: 'roomNotFound' })
  expect(await closed.promise).toBe('r1')
  node('main').setFault(none)
  expect(await node('main').rooms(new AbortController().signal)).toEqual([])
})

test('a room changed during its assignment is on the node as stored', async () => {
  const { pool, node, changeRoom } = await poolSite({ rooms: { r1: { attendee_max: 10 } } })
  node('main').setFault({ mode: 'slow', delayMs: 30 })
  const assigned = pool.callerNodes.nodeFor('r1')
  await changeRoom('r1', { locked: true })
  await pool.calls.update('r1')
  await assigned
  expect(() => node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })).toThrow('locked')
})

test('a room whose node is lost moves to another one', async () => {
  const { pool, node, next } = await poolSite({ nodes: { a: {}, b: {} }, rooms: { r1: {} } })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('a')
  const lost = next(stateIs('a', 'offline'))
  node('a').setFault(offline)
  await lost
  expect(await pool.callerNodes.nodeFor('r1')).toBe('b')
})

test('get_mcu answers the address with the requested tag, else the first, else the default', async () => {
  const addresses = [
    { tag: 'wan', addr: '203.0.113.5:7082' },
    { tag: 'local', addr: '10.0.0.5:7082' },
  ]
  const { pool } = await poolSite({ nodes: { a: { addresses }, b: {}, c: { kind: 'janus' } } })
  expect(pool.nodes.address('a', 'local')).toBe('10.0.0.5:7082')
  expect(pool.nodes.address('a', 'moon')).toBe('203.0.113.5:7082')
  expect(pool.nodes.address('a')).toBe('203.0.113.5:7082')
  expect(pool.nodes.address('b', 'local')).toBe('127.0.0.1:7082')
  expect(() => pool.nodes.address('c')).toThrow('No MCU')
  expect(() => pool.nodes.address('gone')).toThrow('not online')
})

test('beside a real node a simulated one gets no rooms, even while the other is offline, unless the lab requests it', async () => {
  const { pool, node, next } = await poolSite({
    nodes: { a: {}, real: { kind: 'embedded' } },
    rooms: { r1: {}, r2: {}, r3: {}, r4: { node: 'a' } },
  })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('real')
  expect(await pool.callerNodes.nodeFor('r2')).toBe('real')
  // Assigned before there was another node.
  expect(await pool.callerNodes.nodeFor('r4')).toBe('real')
  expect(await pool.callerNodes.nodeFor('r3', { withoutMedia: true })).toBe('a')
  node('a').joinPerson('r3', { userId: 'ann', userName: 'Ann' })
  expect(await pool.callerNodes.nodeFor('r3')).toBe('a')
  const lost = next(stateIs('real', 'offline'))
  node('real').setFault(offline)
  await lost
  await expect(pool.callerNodes.nodeFor('r1')).rejects.toMatchObject({ code: 'noNode' })
})

test('a site with only simulated nodes uses them', async () => {
  const { pool } = await poolSite({ nodes: { a: {}, real: { kind: 'embedded', enabled: false } }, rooms: { r1: {} } })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('a')
})

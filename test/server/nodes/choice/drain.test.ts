import { Deadline } from '../../../../shared/deadline.ts'
import { expect, test } from 'vitest'
import type { Store } from '../../../../server/store/store.ts'
import { camera, isOf, poolSite } from '../../../support/sites/pool-site.ts'

/** Resolves when the store assigns the room to this node. */
function assignedTo(store: Store, roomId: string, node: string): Promise<void> {
  if (store.get('rooms', roomId)?.node === node) return Promise.resolve()
  return new Promise((resolve) => {
    const unsubscribe = store.onChange(() => {
      if (store.get('rooms', roomId)?.node !== node) return
      unsubscribe()
      resolve()
    })
  })
}

test('a draining node keeps the rooms with people, gives up the others and gets no new ones', async () => {
  const { pool, node, store } = await poolSite({
    nodes: { a: {}, b: {} },
    rooms: { busy: { node: 'a' }, idle: { node: 'a' }, fresh: {} },
  })
  await pool.callerNodes.nodeFor('busy')
  await pool.callerNodes.nodeFor('idle')
  node('a').joinPerson('busy', { userId: 'ann', userName: 'Ann' })
  await pool.drainer.set('a', true)
  await assignedTo(store, 'idle', '')
  expect(store.get('nodes', 'a')?.draining).toBe(true)
  expect(await pool.callerNodes.nodeFor('busy')).toBe('a')
  expect(await pool.callerNodes.nodeFor('idle')).toBe('b')
  expect(await pool.callerNodes.nodeFor('fresh')).toBe('b')
  expect(pool.nodes.views()[0]).toMatchObject({ state: 'draining', draining: true, rooms: 1, users: 1, rooms_left: 1 })
})

test('when the last person leaves, the room goes too and the node is empty', async () => {
  const { pool, node, store } = await poolSite({ nodes: { a: {}, b: {} }, rooms: { busy: { node: 'a' } } })
  await pool.callerNodes.nodeFor('busy')
  node('a').joinPerson('busy', { userId: 'ann', userName: 'Ann' })
  await pool.drainer.set('a', true)
  const closed = Promise.withResolvers<string>()
  node('a').closeRoom = async (roomId) => closed.resolve(roomId)
  node('a').leavePerson('busy', 'ann')
  await assignedTo(store, 'busy', '')
  expect(await closed.promise).toBe('busy')
  expect(pool.nodes.views()[0]).toMatchObject({ rooms: 0, rooms_left: 0 })
})

test('a room with only devices moves when there is another node for it', async () => {
  const { pool, node, store, told, addNode } = await poolSite({
    nodes: { a: {} },
    rooms: { watch: { node: 'a' }, talk: { node: 'a' } },
  })
  await pool.callerNodes.nodeFor('watch')
  await pool.callerNodes.nodeFor('talk')
  await pool.calls.addDevice('watch', camera('door'), Deadline.in(5_000))
  await pool.calls.addDevice('talk', camera('gate'), Deadline.in(5_000))
  node('a').joinPerson('talk', { userId: 'ann', userName: 'Ann' })
  await pool.drainer.set('a', true)
  expect(store.get('rooms', 'watch')?.node).toBe('a')
  await addNode('b')
  await assignedTo(store, 'watch', '')
  expect(told.filter((event) => event.type === 'deviceLost')).toEqual([
    {
      type: 'deviceLost',
      name: 'a',
      roomId: 'watch',
      userId: 'door',
      kind: 'nodeFailed',
      detail: 'The room moves to another MCU.',
    },
  ])
  expect(await pool.callerNodes.nodeFor('watch')).toBe('b')
  expect(store.get('rooms', 'talk')?.node).toBe('a')
})

test('a room whose users have not yet returned from a lost node moves at once when its new node drains', async () => {
  const { pool, node, store, next } = await poolSite({
    nodes: { a: {}, b: { weight: 9 }, c: {} },
    rooms: { talk: { node: 'a' } },
  })
  await pool.callerNodes.nodeFor('talk')
  for (const userId of ['ann', 'bob']) node('a').joinPerson('talk', { userId, userName: userId })
  const moved = next(isOf('roomMoved', 'b'))
  node('a').setFault({ mode: 'offline', delayMs: 0 })
  await moved
  await pool.drainer.set('b', true)
  await assignedTo(store, 'talk', 'c')
})

test('a node that no longer drains gets rooms again', async () => {
  const { pool } = await poolSite({ nodes: { a: {} }, rooms: { r1: {} } })
  await pool.drainer.set('a', true)
  await expect(pool.callerNodes.nodeFor('r1')).rejects.toMatchObject({ code: 'noNode' })
  await pool.drainer.set('a', false)
  expect(await pool.callerNodes.nodeFor('r1')).toBe('a')
  expect(pool.nodes.views()[0]?.state).toBe('online')
})

test('a drain requested before a restart continues after it', async () => {
  const { store } = await poolSite({
    nodes: { a: { draining: true } },
    rooms: { r1: { node: 'a' }, r2: { node: 'a' } },
  })
  await Promise.all([assignedTo(store, 'r1', ''), assignedTo(store, 'r2', '')])
})

test('a room that is being assigned when the drain begins goes to another node', async () => {
  const { pool, node, store } = await poolSite({ nodes: { a: {}, b: { weight: 0.5 } }, rooms: { r1: {} } })
  node('a').setFault({ mode: 'slow', delayMs: 60 })
  const assigned = pool.callerNodes.nodeFor('r1')
  await pool.drainer.set('a', true)
  expect(await assigned).toBe('b')
  expect(store.get('rooms', 'r1')?.node).toBe('b')
})

test('thousands of idle rooms are moved in chunks while requests are answered', async () => {
  const rooms = Object.fromEntries(Array.from({ length: 1_000 }, (_, number) => [`r${number}`, { node: 'a' }]))
  const { pool, store } = await poolSite({ nodes: { a: {}, b: {} }, rooms: { ...rooms, asked: {} } })
  await pool.drainer.set('a', true)
  expect(await pool.callerNodes.nodeFor('asked')).toBe('b')
  expect(pool.nodes.views()[0]?.rooms).toBeGreaterThan(0)
  await assignedTo(store, 'r999', '')
  expect(pool.nodes.views()[0]?.rooms).toBe(0)
})

test('a drain that the disk refuses is retried', async () => {
  const { pool, store, stuckDisk, settings, logged } = await poolSite({
    nodes: { a: {} },
    rooms: { r1: { node: 'a' } },
    deadlines: { store_ms: 1_000 },
  })
  const draining = pool.drainer.set('a', true)
  const onceDraining = store.onChange(() => {
    onceDraining()
    stuckDisk.begin(10)
  })
  await draining
  const refusal = 'rooms could not be taken off a draining node: tried again later'
  await expect.poll(() => logged, { timeout: 10_000 }).toContain(refusal)
  expect(store.get('rooms', 'r1')?.node).toBe('a')
  settings.deadlines.store_ms = 5_000
  stuckDisk.end()
  await assignedTo(store, 'r1', '')
})

test('an unknown node cannot be drained', async () => {
  const { pool } = await poolSite()
  await expect(pool.drainer.set('moon', true)).rejects.toMatchObject({ code: 'parameter', field: 'name' })
})

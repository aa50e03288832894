import { Deadline } from '../../../shared/deadline.ts'
import { expect, test } from 'vitest'
import type { NodeEvent } from '../../../server/nodes/port/media-node-port.ts'
import { SimulatedPeople } from '../../../server/lab/simulated-people.ts'
import { SimulatedNode } from '../../../server/nodes/simulated/simulated-node.ts'
import { storedNode } from '../../support/stored-records.ts'
import { camera, isOf, poolSite, stateIs } from '../../support/sites/pool-site.ts'
import { nodeView } from '../../../shared/domain/nodes.ts'

test('a new node is polled at once and gets rooms', async () => {
  const { pool, addNode, next } = await poolSite({ nodes: {}, rooms: { r1: {} } })
  expect(pool.nodes.engine()).toBe('running')
  const online = next(stateIs('late', 'online'))
  await addNode('late')
  await online
  expect(await pool.callerNodes.nodeFor('r1')).toBe('late')
})

test('a disabled node loses its users at once, and its rooms move; enabled again, it starts without them', async () => {
  const { pool, node, addNode, next, told } = await poolSite({
    nodes: { a: {}, b: { weight: 0.1 } },
    rooms: { r1: {} },
  })
  await pool.callerNodes.nodeFor('r1')
  node('a').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  await pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))
  await addNode('a', { enabled: false })
  expect(pool.presence.usersOf('r1')).toEqual([])
  expect(told).toContainEqual({
    type: 'deviceLost',
    name: 'a',
    roomId: 'r1',
    userId: 'door',
    kind: 'nodeFailed',
    detail: 'The MCU was taken out of service.',
  })
  expect(pool.nodes.views()[0]).toMatchObject({ state: 'disabled', users: 0 })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('b')
  const online = next(stateIs('a', 'online'))
  await addNode('a')
  await online
  expect(await pool.callerNodes.nodeFor('r1')).toBe('b')
})

test('a removed node leaves the list, and a call to its rooms answers offline', async () => {
  const { pool, store, next } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  const removed = next(isOf('nodeRemoved', 'main'))
  await store.transact(['nodes/main'], (change) => change.delete('nodes', 'main'))
  await removed
  expect(pool.nodes.views()).toEqual([])
  await expect(pool.calls.kick('r1', 'ann')).rejects.toMatchObject({ code: 'nodeOffline' })
})

test('new limits and addresses take effect without a new connection; another kind makes one', async () => {
  let made = 0
  const { pool, node, addNode, next } = await poolSite({
    rooms: { r1: {}, r2: {} },
    prepare: () => {
      made += 1
    },
  })
  await pool.callerNodes.nodeFor('r1')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  await addNode('main', { max_users: 1, addresses: [{ tag: '', addr: '10.0.0.1:7082' }] })
  await expect(pool.callerNodes.nodeFor('r2')).rejects.toMatchObject({ code: 'licenceExceeded' })
  expect([made, pool.nodes.address('main'), pool.presence.usersOf('r1').length]).toEqual([1, '10.0.0.1:7082', 1])
  const remade = next(stateIs('main', 'online'))
  await addNode('main', { secrets_sealed: 'sealed:other' })
  await remade
  expect([made, pool.presence.usersOf('r1')]).toEqual([2, []])
})

test('a configuration refused by its driver makes the node offline with the reason; a valid one repairs it', async () => {
  const { pool, addNode, next } = await poolSite({
    nodes: { a: { secrets_sealed: 'bad' } },
    driver(config) {
      if (config.secrets_sealed === 'bad') throw new Error('the admin secret is missing')
      return new SimulatedNode()
    },
  })
  expect(pool.nodes.views()[0]).toMatchObject({
    state: 'offline',
    last_error: 'The connection to the node failed: the admin secret is missing.',
  })
  const online = next(stateIs('a', 'online'))
  await addNode('a', { secrets_sealed: 'good' })
  await online
})

test('the list shows each node as in the console contract, without secrets', async () => {
  const { pool } = await poolSite({ nodes: { a: { secrets_sealed: 'sealed:x', idc_code: 'bj' } }, rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  await pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))
  const [view] = pool.nodes.views()
  expect(nodeView.parse(view)).toEqual(view)
  expect(view).toMatchObject({ state: 'online', rooms: 1, users: 1, rooms_left: 0 })
  expect(JSON.stringify(view)).not.toContain('sealed')
})

test('a connection test reports success, or what is wrong, and adds nothing', async () => {
  const { pool } = await poolSite({
    nodes: {},
    prepare: (node, name) => name === 'dead' && node.setFault({ mode: 'offline', delayMs: 0 }),
  })
  expect(await pool.testConnection(storedNode('good'))).toMatchObject({
    ok: true,
    message: 'The node answers: 0 rooms, 0 users.',
  })
  expect(await pool.testConnection(storedNode('dead'))).toMatchObject({
    ok: false,
    message: 'The connection to the node failed: the simulated node is offline.',
  })
  expect(pool.nodes.views()).toEqual([])
})

test('a test of a node that never answers ends with the deadline', async () => {
  const { pool } = await poolSite({
    nodes: {},
    deadlines: { health_ms: 50 },
    prepare: (node) => node.setFault({ mode: 'silent', delayMs: 0 }),
  })
  expect(await pool.testConnection(storedNode('mute'))).toMatchObject({
    ok: false,
    message: 'The node did not answer within 0.05 s.',
  })
})

test('a driver that never closes delays the stop only until its deadline', async () => {
  const { pool, node, logged } = await poolSite({ deadlines: { shutdown_ms: 50 } })
  node('main').close = () => new Promise(() => undefined)
  await pool.stop()
  expect(logged).toContain('the driver of a node did not close in time')
})

test('a listener that throws does not affect the others', async () => {
  const { pool, node, next, logged } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  pool.events.subscribe(() => {
    throw new Error('broken listener')
  })
  const joined = next(isOf('joined', 'main'))
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  await joined
  expect(logged).toContain('a listener of the node pool failed')
})

test('an unexpected event of a node is logged in full, and the next one is handled', async () => {
  const tell = Promise.withResolvers<(event: NodeEvent) => void>()
  const { pool, logged } = await poolSite({
    rooms: { r1: {} },
    driver() {
      const node = new SimulatedNode()
      node.onEvent = (listener) => {
        tell.resolve(listener)
        return () => undefined
      }
      return node
    },
  })
  await pool.callerNodes.nodeFor('r1')
  const says = await tell.promise
  // An event of a program of another version.
  const malformed: NodeEvent = JSON.parse('{ "type": "joined", "roomId": "r1" }')
  says(malformed)
  expect(logged).toContain('what a node told was not taken')
  const user = { userId: 'ann', userName: 'Ann', device: false, role: 'member', joinedAt: 5 } as const
  says({ type: 'joined', roomId: 'r1', user })
  expect(pool.presence.usersOf('r1')).toEqual([user])
})

test('the lab adds and removes users of simulated nodes and reports refusals', async () => {
  const { pool, store, node } = await poolSite({ rooms: { r1: { attendee_max: 1 }, r2: {} } })
  const people = new SimulatedPeople(pool, store)
  const ann = { userId: 'ann', userName: 'Ann' }
  expect(await people.join('r1', ann)).toMatchObject({ userId: 'ann', role: 'member' })
  await expect(people.join('r1', { ...ann, userId: 'bob' })).rejects.toMatchObject({
    code: 'parameter',
    message: 'The room is full.',
  })
  people.leave('r1', 'ann')
  expect(() => people.leave('r1', 'ann')).toThrow('not in this room')
  expect(() => people.leave('r2', 'ann')).toThrow('not in this room')
  expect(() => people.leave('r9', 'ann')).toThrow('no such room')
  people.setFault('main', { mode: 'slow', delayMs: 1 })
  expect(node('main').fault.mode).toBe('slow')
  expect(() => people.setFault('moon', { mode: 'none', delayMs: 0 })).toThrow('simulated nodes only')
})

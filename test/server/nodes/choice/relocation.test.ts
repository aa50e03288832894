import { Deadline } from '../../../../shared/deadline.ts'
import { expect, test } from 'vitest'
import { NodeConnectionError } from '../../../../server/nodes/port/media-node-port.ts'
import { SimulatedNode } from '../../../../server/nodes/simulated/simulated-node.ts'
import { camera, isOf, type PoolSite, poolSite, stateIs } from '../../../support/sites/pool-site.ts'

const offline = { mode: 'offline', delayMs: 0 } as const
const silent = { mode: 'silent', delayMs: 0 } as const
const none = { mode: 'none', delayMs: 0 } as const
const signal = new AbortController().signal

/** Loses the node, as when its machine fails. */
async function lose({ node, next }: PoolSite, name: string): Promise<void> {
  const lost = next(stateIs(name, 'offline'))
  node(name).setFault(offline)
  await lost
}

/** Restores the node without its rooms. */
async function comeBack({ node, next }: PoolSite, name: string): Promise<void> {
  const back = next(isOf('online', name))
  node(name).setFault(none)
  await back
}

test('rooms with users on a lost node move to another at once, and are open there; the others wait for their get_mcu', async () => {
  const site = await poolSite({
    nodes: { a: {}, b: {} },
    rooms: { talk: { node: 'a' }, watch: { node: 'a' }, empty: { node: 'a' } },
  })
  const { pool, node, store } = site
  for (const roomId of ['talk', 'watch', 'empty']) await pool.callerNodes.nodeFor(roomId)
  node('a').joinPerson('talk', { userId: 'ann', userName: 'Ann' })
  await pool.calls.addDevice('watch', camera('door'), Deadline.in(5_000))
  const moved = new Set<string>()
  const both = site.next((event) => event.type === 'roomMoved' && moved.add(event.roomId).size === 2)
  await lose(site, 'a')
  await both
  expect(['talk', 'watch', 'empty'].map((roomId) => store.get('rooms', roomId)?.node)).toEqual(['b', 'b', 'a'])
  expect((await node('b').rooms(signal)).sort()).toEqual(['talk', 'watch'])
  expect(await pool.callerNodes.nodeFor('empty')).toBe('b')
})

test('a room whose second node is lost before its users are back moves to a third', async () => {
  const site = await poolSite({ nodes: { a: {}, b: { weight: 9 }, c: {} }, rooms: { talk: { node: 'a' } } })
  const { pool, node, next } = site
  await pool.callerNodes.nodeFor('talk')
  for (const userId of ['ann', 'bob']) node('a').joinPerson('talk', { userId, userName: userId })
  const moved = next(isOf('roomMoved', 'b'))
  await lose(site, 'a')
  await moved
  expect(await pool.callerNodes.nodeFor('talk')).toBe('b')
  const again = next(isOf('roomMoved', 'c'))
  await lose(site, 'b')
  await again
})

test('a room does not stay on a node that is disabled during its assignment', async () => {
  const { pool, store, node, addNode } = await poolSite({ nodes: { a: {}, b: {} }, rooms: { talk: {} } })
  const asked = Promise.withResolvers<true>()
  const answer = Promise.withResolvers<true>()
  const { openRoom } = node('a')
  node('a').openRoom = async (room, inner) => {
    asked.resolve(true)
    await answer.promise
    await openRoom.call(node('a'), room, inner)
  }
  const assigned = pool.callerNodes.nodeFor('talk')
  await asked.promise
  // Both are being written at the same time.
  answer.resolve(true)
  await Promise.resolve()
  const disabled = addNode('a', { enabled: false })
  expect(await assigned).toBe('b')
  await disabled
  expect(store.get('rooms', 'talk')?.node).toBe('b')
})

test('rooms of a lost node are distributed over the others by their number of users', async () => {
  const rooms = Object.fromEntries(Array.from({ length: 12 }, (_, number) => [`r${number}`, { node: 'a' }]))
  const site = await poolSite({ nodes: { a: {}, b: {}, c: { weight: 2 } }, rooms })
  const { pool, node, store, next } = site
  for (const roomId of Object.keys(rooms)) {
    await pool.callerNodes.nodeFor(roomId)
    const people = roomId === 'r0' ? 10 : 2
    for (let n = 0; n < people; n++) node('a').joinPerson(roomId, { userId: `${roomId}-${n}`, userName: 'Ann' })
  }
  let moves = 0
  const all = next((event) => event.type === 'roomMoved' && ++moves === 12)
  await lose(site, 'a')
  await all
  const peopleFor = (name: string): number =>
    Object.keys(rooms).reduce(
      (sum, roomId) => sum + (store.get('rooms', roomId)?.node === name ? (roomId === 'r0' ? 10 : 2) : 0),
      0,
    )
  expect([peopleFor('b'), peopleFor('c')].sort((x, y) => x - y)).toEqual([12, 20])
})

test('a node that returns takes no room back, gets new rooms last at first, and keeps its empty rooms', async () => {
  const site = await poolSite({
    nodes: { a: {}, b: {} },
    rooms: { talk: { node: 'a' }, idle: { node: 'a' }, fresh: {} },
  })
  const { pool, node, store, next } = site
  await pool.callerNodes.nodeFor('talk')
  node('a').joinPerson('talk', { userId: 'ann', userName: 'Ann' })
  const moved = next(isOf('roomMoved', 'b'))
  await lose(site, 'a')
  await moved
  node('b').joinPerson('talk', { userId: 'ann', userName: 'Ann' })
  await comeBack(site, 'a')
  expect(await pool.callerNodes.nodeFor('talk')).toBe('b')
  expect(await pool.callerNodes.nodeFor('idle')).toBe('a')
  // Nobody is on a, and it may fail again.
  expect(await pool.callerNodes.nodeFor('fresh')).toBe('b')
  expect(store.get('rooms', 'talk')?.node).toBe('b')
})

test('a node that restarts on its own gets new rooms last, too', async () => {
  const { pool, node, next } = await poolSite({
    nodes: { a: {}, b: {} },
    rooms: { fresh: {} },
    deadlines: { health_interval_ms: 5_000 },
  })
  const back = next(isOf('online', 'a'))
  node('a').setFault(offline)
  node('a').setFault(none)
  await back
  expect(await pool.callerNodes.nodeFor('fresh')).toBe('b')
})

test('without another node rooms stay assigned, and open again when theirs returns', async () => {
  const site = await poolSite({ rooms: { r1: {} } })
  const { pool, node } = site
  await pool.callerNodes.nodeFor('r1')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  await lose(site, 'main')
  await expect
    .poll(() => site.logged)
    .toContain('rooms without a node got no other one: each gets one at its next get_mcu')
  await comeBack(site, 'main')
  await expect.poll(() => node('main').rooms(signal)).toEqual(['r1'])
})

test('a disabled node: its rooms open on other nodes before its users are redirected, and it is empty when it ends', async () => {
  const happened: string[] = []
  const site = await poolSite({
    nodes: { a: {}, b: {} },
    rooms: { talk: { node: 'a' }, idle: { node: 'a' } },
    prepare(node, name) {
      const { openRoom, closeRoom, close } = node
      node.openRoom = async (room, inner) => {
        await openRoom.call(node, room, inner)
        happened.push(`${room.roomId} opens on ${name}`)
      }
      node.closeRoom = async (roomId, inner, moves?: boolean) => {
        await closeRoom.call(node, roomId, inner)
        happened.push(`${roomId} closes on ${name}${moves === true ? ', its people are to follow' : ''}`)
      }
      node.close = async () => {
        happened.push(`${name} ends`)
        await close.call(node)
      }
    },
  })
  const { pool, node, addNode, next } = site
  await pool.callerNodes.nodeFor('talk')
  await pool.callerNodes.nodeFor('idle')
  node('a').joinPerson('talk', { userId: 'ann', userName: 'Ann' })
  happened.length = 0
  const moved = next(isOf('roomMoved', 'b'))
  await addNode('a', { enabled: false })
  expect(pool.presence.usersOf('talk')).toEqual([])
  await expect(pool.calls.kick('talk', 'ann')).rejects.toMatchObject({ code: 'nodeOffline' })
  await moved
  expect(await pool.callerNodes.nodeFor('talk')).toBe('b')
  // It stays for a moment, to redirect clients that still use it.
  await expect.poll(() => happened.at(-1)).toBe('a ends')
  expect(happened).toEqual([
    'talk opens on b',
    'talk closes on a, its people are to follow',
    'idle closes on a, its people are to follow',
    'a ends',
  ])
})

test('a node enabled again while it is being emptied starts again at once', async () => {
  const { pool, node, addNode, next } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  const before = node('main')
  before.joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  await addNode('main', { enabled: false })
  expect(pool.nodes.engine()).toBe('running')
  const back = next(isOf('online', 'main'))
  await addNode('main')
  await back
  expect(node('main')).not.toBe(before)
  expect(await pool.callerNodes.nodeFor('r1')).toBe('main')
})

test('a disabled node that hangs is released after its deadlines, and its rooms have moved long before', async () => {
  const { pool, node, addNode, next } = await poolSite({
    nodes: { a: {}, b: { weight: 0.01 } },
    rooms: { talk: {} },
    deadlines: { node_ms: 300, health_interval_ms: 5_000 },
  })
  await pool.callerNodes.nodeFor('talk')
  node('a').joinPerson('talk', { userId: 'ann', userName: 'Ann' })
  node('a').setFault(silent)
  const moved = next(isOf('roomMoved', 'b'))
  const ended = Promise.withResolvers<true>()
  const { close } = node('a')
  node('a').close = async () => {
    ended.resolve(true)
    await close.call(node('a'))
  }
  await addNode('a', { enabled: false })
  await moved
  await ended.promise
})

test('a hanging node that nobody noticed yet costs a new room part of the deadline, and the next ones nothing', async () => {
  const { pool, node } = await poolSite({
    nodes: { a: {}, b: { weight: 0.01 } },
    rooms: { r1: {}, r2: {} },
    deadlines: { node_ms: 2_000, health_interval_ms: 60_000 },
  })
  node('a').setFault(silent)
  const startedAt = performance.now()
  expect(await pool.callerNodes.nodeFor('r1')).toBe('b')
  const first = performance.now() - startedAt
  expect(await pool.callerNodes.nodeFor('r2')).toBe('b')
  expect(first).toBeLessThan(1_500)
  expect(performance.now() - startedAt - first).toBeLessThan(400)
})

test('P2P rooms are never on a Janus node, and leave it when they become P2P', async () => {
  const rooms = { small: { room_mode: 3 }, pair: { room_mode: 4 }, hall: { room_mode: 2 } } as const
  const site = await poolSite({
    nodes: { a: { kind: 'janus' }, b: { kind: 'embedded', weight: 0.01 } },
    rooms,
    driver: () => new SimulatedNode(),
  })
  const { pool, store, changeRoom, addNode, next } = site
  expect(await Promise.all(Object.keys(rooms).map((roomId) => pool.callerNodes.nodeFor(roomId)))).toEqual([
    'b',
    'b',
    'a',
  ])
  await pool.calls.addDevice('hall', camera('door'), Deadline.in(5_000))
  const moved = next((event) => event.type === 'deviceLost')
  await changeRoom('hall', { room_mode: 3 })
  await moved
  await expect.poll(() => store.get('rooms', 'hall')?.node).toBe('b')
  await addNode('b', { kind: 'embedded', enabled: false })
  await expect(pool.callerNodes.nodeFor('small')).rejects.toMatchObject({ code: 'noNode' })
})

test('a single lost poll moves no room', async () => {
  const { pool, node, told } = await poolSite({ nodes: { a: {}, b: {} }, rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  node('a').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  const { health } = node('a')
  const polledAgain = Promise.withResolvers<true>()
  let polls = 0
  node('a').health = (inner) => {
    polls += 1
    if (polls === 1) return Promise.reject(new NodeConnectionError('hiccup'))
    if (polls === 3) polledAgain.resolve(true)
    return health.call(node('a'), inner)
  }
  await polledAgain.promise
  expect(told.filter(({ type }) => type === 'left' || type === 'roomMoved')).toEqual([])
  expect(pool.presence.usersOf('r1')).toHaveLength(1)
})

import { Deadline } from '../../../../shared/deadline.ts'
import { expect, test } from 'vitest'
import { NodeConnectionError, NodeError } from '../../../../server/nodes/port/media-node-port.ts'
import { camera, isOf, poolSite, stateIs } from '../../../support/sites/pool-site.ts'

const offline = { mode: 'offline', delayMs: 0 } as const
const silent = { mode: 'silent', delayMs: 0 } as const
const none = { mode: 'none', delayMs: 0 } as const
const signal = new AbortController().signal

test('after the start every node was polled: the good ones are online, the bad ones report why', async () => {
  const { pool } = await poolSite({
    nodes: { a: {}, b: {}, c: { kind: 'janus' }, d: { enabled: false } },
    prepare: (node, name) => node.setFault(name === 'b' ? offline : none),
  })
  expect(pool.nodes.views().map(({ config, state, last_error }) => [config.name, state, last_error])).toEqual([
    ['a', 'online', ''],
    ['b', 'offline', 'The connection to the node failed: the simulated node is offline.'],
    ['c', 'offline', 'The connection to the node failed: there is no driver for nodes of kind janus here.'],
    ['d', 'disabled', ''],
  ])
  expect(pool.nodes.engine()).toBe('running')
})

test('a node that never answers delays the start only until its deadline', async () => {
  const { pool } = await poolSite({
    prepare: (node) => node.setFault(silent),
    deadlines: { health_ms: 50 },
  })
  expect(pool.nodes.views()[0]).toMatchObject({
    state: 'offline',
    last_error: 'The node did not answer within 0.05 s.',
  })
  expect(pool.nodes.engine()).toBe('unresponsive')
})

test('the engine is stopped while every enabled node is offline, and runs again when the first returns', async () => {
  const { pool, node, next } = await poolSite({ nodes: { a: {}, b: {} } })
  const lost = Promise.all([next(stateIs('a', 'offline')), next(stateIs('b', 'offline'))])
  node('a').setFault(offline)
  node('b').setFault(offline)
  await lost
  expect(pool.nodes.engine()).toBe('stopped')
  const back = next(stateIs('b', 'online'))
  node('b').setFault(none)
  await back
  expect(pool.nodes.engine()).toBe('running')
})

test('one failed poll is no loss, a second in a row is', async () => {
  const { pool, node, next, told } = await poolSite()
  const { health } = node('main')
  let failures = 0
  const failOnce = Promise.withResolvers<true>()
  node('main').health = (inner) => {
    failures += 1
    if (failures === 1) return Promise.reject(new Error('hiccup'))
    failOnce.resolve(true)
    return health.call(node('main'), inner)
  }
  await failOnce.promise
  expect(pool.nodes.views()[0]?.state).toBe('online')
  expect(told.filter((event) => event.type === 'nodeState' && event.state === 'offline')).toEqual([])
  const lost = next(stateIs('main', 'offline'))
  node('main').health = () => Promise.reject(new Error('dead'))
  expect(await lost).toMatchObject({ error: 'The node failed in an unexpected way: it was logged.' })
})

test('a call on a dead connection triggers a poll, long before the next one is due', async () => {
  const { pool, node } = await poolSite({ rooms: { r1: {} }, deadlines: { health_interval_ms: 10_000 } })
  await pool.callerNodes.nodeFor('r1')
  const polled = Promise.withResolvers<true>()
  node('main').health = async () => {
    polled.resolve(true)
    return { rooms: 1, users: 0, pulls: 0 }
  }
  node('main').kick = () => Promise.reject(new NodeConnectionError('broken pipe'))
  const start = performance.now()
  await expect(pool.calls.kick('r1', 'ann')).rejects.toMatchObject({ code: 'nodeOffline' })
  await polled.promise
  expect(performance.now() - start).toBeLessThan(5_000)
})

test('users on a lost node leave their rooms, its devices are lost, and everybody is notified', async () => {
  const { pool, node, next, told } = await poolSite({ nodes: { a: {}, b: {} }, rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  const ann = node('a').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  await pool.calls.addDevice('r1', camera('door'), Deadline.in(5_000))
  const lost = next(isOf('deviceLost', 'a'))
  node('a').setFault(offline)
  expect(await lost).toMatchObject({ userId: 'door', kind: 'nodeFailed', detail: 'The MCU went offline.' })
  expect(told).toContainEqual({ type: 'left', name: 'a', roomId: 'r1', user: ann, lost: true })
  expect([pool.presence.usersOf('r1'), pool.presence.totals()]).toEqual([[], { people: 0, devices: 0 }])
  expect(pool.nodes.onOnlineNode('r1')).toBe(false)
})

test('a node that returns without rooms gets them again before its devices join', async () => {
  const rooms = { r1: { node: 'main' }, r2: { node: 'main', locked: true }, r3: {}, r4: { node: 'main', closed: true } }
  const { node, next } = await poolSite({ rooms })
  const lost = next(stateIs('main', 'offline'))
  node('main').setFault(offline)
  await lost
  const back = next(isOf('online', 'main'))
  const reopened = Promise.withResolvers<true>()
  const { openRoom } = node('main')
  const opened = new Set<string>()
  node('main').openRoom = async (room, inner) => {
    await openRoom.call(node('main'), room, inner)
    if (opened.add(room.roomId).size === 2) reopened.resolve(true)
  }
  node('main').setFault(none)
  await back
  await reopened.promise
  expect((await node('main').rooms(signal)).sort()).toEqual(['r1', 'r2'])
  expect(() => node('main').joinPerson('r2', { userId: 'ann', userName: 'Ann' })).toThrow('locked')
})

test('a node that restarts between two polls is noticed as well', async () => {
  const { pool, node, next } = await poolSite({ rooms: { r1: {} }, deadlines: { health_interval_ms: 5_000 } })
  await pool.callerNodes.nodeFor('r1')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  const back = next(isOf('online', 'main'))
  node('main').setFault(offline)
  node('main').setFault(none)
  await back
  expect(pool.presence.usersOf('r1')).toEqual([])
  expect(await pool.callerNodes.nodeFor('r1')).toBe('main')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  expect(pool.presence.usersOf('r1').map((user) => user.userId)).toEqual(['ann'])
})

test('a room is opened on a just restarted node before get_mcu answers, however early', async () => {
  const { pool, node } = await poolSite({ rooms: { r1: {} }, deadlines: { health_interval_ms: 5_000 } })
  await pool.callerNodes.nodeFor('r1')
  node('main').setFault(offline)
  node('main').setFault(none)
  expect(await pool.callerNodes.nodeFor('r1')).toBe('main')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
})

test('a node that kept its users through a broken connection returns with them, and loses rooms that moved', async () => {
  const { pool, node, next, addNode, changeRoom, removeRoom } = await poolSite({
    // There is no other node for its rooms.
    nodes: { a: {}, b: { draining: true } },
    rooms: { kept: {}, moved: {}, gone: {} },
  })
  const a = node('a')
  for (const roomId of ['kept', 'moved', 'gone']) {
    await changeRoom(roomId, { node: 'a' })
    await pool.callerNodes.nodeFor(roomId)
    a.joinPerson(roomId, { userId: `${roomId}-1`, userName: 'Ann' })
  }
  const { health } = a
  const lost = next(stateIs('a', 'offline'))
  a.health = () => Promise.reject(new Error('the network is down'))
  await lost
  expect(pool.presence.totals().people).toBe(0)
  await removeRoom('gone')
  await addNode('b')
  expect(await pool.callerNodes.nodeFor('moved')).toBe('b')
  a.joinPerson('kept', { userId: 'kept-2', userName: 'Bob' })
  a.leavePerson('kept', 'kept-1')
  await changeRoom('kept', { locked: true })

  const closed = new Set<string>()
  const bothClosed = Promise.withResolvers<true>()
  const { closeRoom } = a
  a.closeRoom = async (roomId, inner) => {
    await closeRoom.call(a, roomId, inner)
    if (closed.add(roomId).size === 2) bothClosed.resolve(true)
  }
  const back = next(isOf('online', 'a'))
  a.health = health
  await Promise.all([back, bothClosed.promise])
  expect(await a.rooms(signal)).toEqual(['kept'])
  expect(pool.presence.usersOf('kept').map((user) => user.userId)).toEqual(['kept-2'])
  expect(() => a.joinPerson('kept', { userId: 'cyd', userName: 'Cyd' })).toThrow('locked')
  expect(await pool.callerNodes.nodeFor('moved')).toBe('b')
})

test('a room that the returning node refuses does not delay the others', async () => {
  const { node, next, logged } = await poolSite({ rooms: { r1: { node: 'main' }, r2: { node: 'main' } } })
  const lost = next(stateIs('main', 'offline'))
  node('main').setFault(offline)
  await lost
  const { openRoom } = node('main')
  const opened = Promise.withResolvers<true>()
  node('main').openRoom = async (room, inner) => {
    if (room.roomId === 'r1') throw new NodeError('no')
    await openRoom.call(node('main'), room, inner)
    opened.resolve(true)
  }
  node('main').setFault(none)
  await opened.promise
  const complaint = 'a room could not be corrected on its node: retry after the next good poll'
  await expect.poll(() => logged, { timeout: 10_000 }).toContain(complaint)
  node('main').openRoom = openRoom
  await expect.poll(async () => (await node('main').rooms(signal)).sort()).toEqual(['r1', 'r2'])
  expect(logged.filter((line) => line === complaint)).toHaveLength(1)
})

test('a room that a node silently lost is opened again, and a stray one is closed', async () => {
  const { pool, node } = await poolSite({ rooms: { r1: {}, r2: {} } })
  await pool.callerNodes.nodeFor('r1')
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  const stray = {
    roomId: 'stray',
    topic: '',
    mode: 1,
    hostPassword: '',
    attendeeMax: 9,
    maxVideo: 1,
    maxAudio: 1,
  } as const
  await node('main').openRoom({ ...stray, locked: false }, signal)
  await expect.poll(() => node('main').rooms(signal)).toEqual(['r1'])
  expect(pool.presence.usersOf('r1').map((user) => user.userId)).toEqual(['ann'])
  await node('main').closeRoom('r1', signal)
  expect(pool.presence.usersOf('r1')).toEqual([])
  await expect.poll(() => node('main').rooms(signal)).toEqual(['r1'])
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  expect(pool.presence.usersOf('r1').map((user) => user.userId)).toEqual(['ann'])
})

test('a stored change reaches the node of the room even if no caller waits for it', async () => {
  const { pool, node, changeRoom } = await poolSite({ rooms: { r1: {} } })
  await pool.callerNodes.nodeFor('r1')
  const told = Promise.withResolvers<boolean>()
  const { openRoom } = node('main')
  node('main').openRoom = async (room, inner) => {
    await openRoom.call(node('main'), room, inner)
    told.resolve(room.locked)
  }
  await changeRoom('r1', { locked: true })
  expect(await told.promise).toBe(true)
})

test('users leave a room that is closed and reopened before its node was reached', async () => {
  const busy = Array.from({ length: 32 }, (_, number) => `busy${number}`)
  const { pool, node, store, changeRoom } = await poolSite({
    rooms: Object.fromEntries([...busy, 'r1'].map((roomId) => [roomId, { node: 'main' }])),
  })
  await Promise.all([...busy, 'r1'].map((roomId) => pool.callerNodes.nodeFor(roomId)))
  node('main').joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  const begun = Promise.withResolvers<true>()
  const goOn = Promise.withResolvers<true>()
  const { closeRoom } = node('main')
  let closing = 0
  node('main').closeRoom = async (roomId, inner) => {
    closing += 1
    if (closing === busy.length) begun.resolve(true)
    await goOn.promise
    await closeRoom.call(node('main'), roomId, inner)
  }
  await store.transact([], (change) => {
    for (const [roomId, room] of store.all('rooms')) change.put('rooms', roomId, { ...room, closed: true })
  })
  await begun.promise
  await changeRoom('r1', { closed: false })
  expect(closing).toBe(busy.length)
  goOn.resolve(true)
  expect(await pool.callerNodes.nodeFor('r1')).toBe('main')
  expect(pool.presence.usersOf('r1')).toEqual([])
  expect(await pool.calls.users('r1')).toEqual([])
})

test('a room whose calls never return does not affect the others', async () => {
  const rooms = Object.fromEntries(Array.from({ length: 200 }, (_, number) => [`r${number}`, { node: 'main' }]))
  const opened = new Set<string>()
  const othersOpen = Promise.withResolvers<number>()
  const startedAt = performance.now()
  await poolSite({
    rooms,
    prepare(node) {
      const { openRoom } = node
      node.openRoom = async (room, inner) => {
        if (room.roomId === 'r0') return new Promise(() => undefined)
        await openRoom.call(node, room, inner)
        if (opened.add(room.roomId).size === 199) othersOpen.resolve(performance.now() - startedAt)
      }
    },
  })
  expect(await othersOpen.promise).toBeLessThan(3_000)
})

test('a node that cannot list its rooms at first is compared after the next successful poll', async () => {
  let asked = 0
  const { next, logged, told } = await poolSite({
    prepare(node) {
      const { rooms } = node
      node.rooms = (inner) => {
        asked += 1
        return asked === 1 ? Promise.reject(new Error('busy')) : rooms.call(node, inner)
      }
    },
  })
  if (!told.some(isOf('online', 'main'))) await next(isOf('online', 'main'))
  expect(asked).toBe(2)
  expect(logged).toContain('a node could not be compared with the store: tried again after the next good poll')
})

test('a slow node stays online while it answers within its deadline', async () => {
  const { pool, node, told } = await poolSite({ rooms: { r1: {} } })
  node('main').setFault({ mode: 'slow', delayMs: 40 })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('main')
  expect(await pool.calls.users('r1')).toEqual([])
  expect(told.filter((event) => event.type === 'nodeState').map((event) => event.state)).toEqual([
    'connecting',
    'online',
  ])
})

test('silence makes a node offline, and the state says since when', async () => {
  const { pool, node, next } = await poolSite({ deadlines: { health_ms: 50 } })
  const before = Date.now()
  const lost = next(stateIs('main', 'offline'))
  node('main').setFault(silent)
  await lost
  const [view] = pool.nodes.views()
  expect(view?.last_error).toBe('The node did not answer within 0.05 s.')
  expect(view?.since).toBeGreaterThanOrEqual(before)
})

import { Deadline } from '../../../../shared/deadline.ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { PoolEvent } from '../../../../server/nodes/port/pool-events.ts'
import { camera, isOf } from '../../../support/sites/pool-site.ts'
import { secondarySite, expectNodes } from '../../../support/sites/secondary-site.ts'

const offline = { mode: 'offline', delayMs: 0 } as const
const failing = { mode: 'failing', delayMs: 0 } as const

const leftOf = (told: readonly PoolEvent[]): string[] =>
  told.flatMap((event) => (event.type === 'left' ? [`${event.user.userId} from ${event.name}`] : []))

test("a user who requests another node's location gets the room there, with the users on its own node", async () => {
  const site = await secondarySite({ a: {}, b: {}, c: {} })
  expect(await site.enter('r1', 'ann', 'A')).toBe('a')
  expect(await site.enter('r1', 'bob', 'B')).toBe('b')
  expectNodes(site, 'r1', ['a', 'b'])
  expect(site.told).toContainEqual({ type: 'roomNodes', roomId: 'r1', nodes: ['a', 'b'] })
  // Without a request, and with an unknown one, the room's node answers as usual.
  expect(await site.enter('r1', 'cleo')).toBe('a')
  expect(await site.pool.callerNodes.nodeFor('r1', { idcCode: 'X' })).toBe('a')
  expect(site.pool.presence.usersOf('r1').map(({ userId }) => userId)).toEqual(['ann', 'bob', 'cleo'])
  expect((await site.pool.calls.users('r1')).map(({ userId }) => userId)).toEqual(['ann', 'bob', 'cleo'])
  expect(site.pool.presence.sessionOf('r1', 'bob')?.node).toBe('b')
  expect(site.pool.nodes.views().map(({ rooms, users }) => [rooms, users])).toEqual([
    [1, 2],
    [1, 1],
    [0, 0],
  ])
})

test('an empty room stays on its node, whatever location is requested', async () => {
  const site = await secondarySite({ a: {}, b: {} })
  await site.pool.callerNodes.nodeFor('r1', { idcCode: 'A' })
  expect(await site.pool.callerNodes.nodeFor('r1', { idcCode: 'B' })).toBe('a')
  expectNodes(site, 'r1', ['a'])
})

test('peer-to-peer rooms, and rooms of other kinds of nodes, have no secondary nodes', async () => {
  const site = await secondarySite(
    { a: { kind: 'embedded' }, b: {}, c: { kind: 'embedded' } },
    { rooms: { r1: {}, r2: { room_mode: 3 } } },
  )
  for (const roomId of ['r1', 'r2']) {
    expect(await site.enter(roomId, 'ann', 'A')).toBe('a')
    expect(await site.enter(roomId, 'bob', 'B')).toBe('a')
    expectNodes(site, roomId, ['a'])
  }
})

test('when a node is full, the next user goes to the least loaded one that is not', async () => {
  const site = await secondarySite({ a: { max_users: 2 }, b: { max_users: 2 }, c: { max_users: 2 } })
  const names: string[] = []
  for (let number = 1; number <= 6; number++) names.push(await site.enter('r1', `p${number}`))
  expect(names).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
  expectNodes(site, 'r1', ['a', 'b', 'c'])
  // All are full: the room has a node, and stays there.
  expect(await site.pool.callerNodes.nodeFor('r1')).toBe('a')
  site.node('b').leavePerson('r1', 'p3')
  expect(await site.pool.callerNodes.nodeFor('r1')).toBe('b')
})

test('a camera is on the own node of its room, even if that is full, and opens no secondary node', async () => {
  const site = await secondarySite({ a: { max_users: 1 }, b: {} })
  await site.enter('r1', 'ann', 'A')
  expect(await site.pool.assigner.assign('r1')).toBe('a')
  await site.pool.calls.addDevice('r1', camera('yard'), Deadline.in(5_000))
  expectNodes(site, 'r1', ['a'])
  expect(await site.on('a', 'r1')).toEqual(['ann', 'yard'])
})

test('concurrent callers share one secondary node', async () => {
  const site = await secondarySite({ a: { max_users: 1 }, b: {}, c: {} })
  await site.enter('r1', 'ann', 'A')
  const names = await Promise.all(Array.from({ length: 20 }, () => site.pool.callerNodes.nodeFor('r1')))
  expect(new Set(names)).toEqual(new Set(['b']))
  expectNodes(site, 'r1', ['a', 'b'])
})

test('a node that refuses does not become a secondary node, and the caller gets an answer', async () => {
  const site = await secondarySite({ a: {}, b: {} })
  await site.enter('r1', 'ann', 'A')
  await expect.poll(() => site.told.some(isOf('online', 'b'))).toBe(true)
  site.node('b').fail(['refused'])
  expect(await site.pool.callerNodes.nodeFor('r1', { idcCode: 'B' })).toBe('a')
  expectNodes(site, 'r1', ['a'])
  expect(await site.pool.callerNodes.nodeFor('r1', { idcCode: 'B' })).toBe('b')
})

test('a room has no more than nine nodes', async () => {
  const names = Array.from({ length: 11 }, (_, number) => `n${number}`)
  const site = await secondarySite(Object.fromEntries(names.map((name) => [name, {}])))
  for (const name of names) await site.enter('r1', name, name.toUpperCase())
  expect(site.pool.index.nodesOf('r1')).toEqual(names.slice(0, 9))
  expect(site.pool.presence.count('r1')).toBe(11)
})

test('an empty secondary node is removed after a while, and the room gets one again on request', async () => {
  const site = await secondarySite({ a: {}, b: {} }, { secondaryIdleMs: 40 })
  await site.enter('r1', 'ann', 'A')
  await site.enter('r1', 'bob', 'B')
  const gone = site.next((event) => event.type === 'roomNodes')
  site.node('b').leavePerson('r1', 'bob')
  expect(await gone).toMatchObject({ nodes: ['a'] })
  await expect.poll(() => site.node('b').rooms(AbortSignal.timeout(5_000))).toEqual([])
  expect(await site.enter('r1', 'bob', 'B')).toBe('b')
  expect(site.room('r1')).toMatchObject({ node: 'a', branches: ['b'] })
})

test('a secondary node with users stays', async () => {
  const site = await secondarySite({ a: {}, b: {}, c: {} }, { secondaryIdleMs: 20 })
  await site.enter('r1', 'ann', 'A')
  await site.enter('r1', 'bob', 'B')
  const gone = site.next((event) => event.type === 'roomNodes' && event.nodes.length === 2)
  await site.pool.callerNodes.nodeFor('r1', { idcCode: 'C' })
  await gone
  expectNodes(site, 'r1', ['a', 'b'])
})

test('a user who joins on another node leaves the previous one', async () => {
  const site = await secondarySite({ a: {}, b: {} })
  await site.enter('r1', 'ann', 'A')
  await site.enter('r1', 'bob', 'B')
  await site.enter('r1', 'bob', 'A')
  expect(site.pool.presence.sessionOf('r1', 'bob')?.node).toBe('a')
  expect(leftOf(site.told)).toEqual(['bob from b'])
  await expect.poll(() => site.on('b', 'r1')).toEqual([])
  // The node reports the departure: nobody leaves the room.
  expect(leftOf(site.told)).toEqual(['bob from b'])
  expect(site.pool.presence.count('r1')).toBe(2)
})

test('a user is kicked on their node, and their passes are revoked on the others', async () => {
  const site = await secondarySite({ a: {}, b: {}, c: {} })
  await site.enter('r1', 'ann', 'A')
  await site.enter('r1', 'bob', 'B')
  await site.enter('r1', 'cleo', 'C')
  expect(await site.pool.calls.kick('r1', 'bob')).toBe(true)
  expect(await site.on('b', 'r1')).toEqual([])
  expect(site.node('a').revoked).toEqual(['r1 bob'])
  expect(site.node('c').revoked).toEqual(['r1 bob'])
  expect(await site.pool.calls.kick('r1', 'bob')).toBe(false)
})

test('users who joined within a millisecond are listed in order of arrival', async () => {
  const site = await secondarySite({ a: {}, b: {} })
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
  onTestFinished(() => void vi.useRealTimers())
  for (let number = 0; number < 8; number++) await site.enter('r1', `p${number}`, number % 2 === 0 ? 'A' : 'B')
  const inOrder = Array.from({ length: 8 }, (_, number) => `p${number}`)
  expect((await site.pool.calls.users('r1')).map(({ userId }) => userId)).toEqual(inOrder)
  expect(site.pool.presence.usersOf('r1').map(({ userId }) => userId)).toEqual(inOrder)
})

test('the users of a secondary node that does not answer are the last reported ones', async () => {
  const site = await secondarySite({ a: {}, b: {} }, { deadlines: { node_ms: 200 } })
  await site.enter('r1', 'ann', 'A')
  await site.enter('r1', 'bob', 'B')
  site.node('b').freeze()
  expect((await site.pool.calls.users('r1')).map(({ userId }) => userId)).toEqual(['ann', 'bob'])
  site.node('b').mend()
})

test('a change of a room reaches all its nodes, and a closed or deleted room ends on all', async () => {
  const site = await secondarySite({ a: {}, b: {} })
  await site.enter('r1', 'ann', 'A')
  await site.enter('r1', 'bob', 'B')
  await site.changeRoom('r1', { attendee_max: 7 })
  await site.pool.calls.update('r1')
  for (const name of ['a', 'b']) expect(site.node(name).configs.get('r1')?.attendeeMax).toBe(7)
  await site.changeRoom('r1', { closed: true })
  await site.pool.calls.close('r1')
  expect(site.pool.presence.count('r1')).toBe(0)
  await site.changeRoom('r1', { closed: false })
  await site.enter('r1', 'ann', 'A')
  await site.removeRoom('r1')
  expect(site.pool.index.nodesOf('r1')).toEqual([])
  for (const name of ['a', 'b']) {
    await expect.poll(() => site.node(name).rooms(AbortSignal.timeout(5_000))).toEqual([])
  }
})

test('when the own node of a room fails, the secondary node with most users replaces it, and they stay', async () => {
  const site = await secondarySite({ a: {}, b: {}, c: {}, d: {} })
  await site.enter('r1', 'ann', 'A')
  await site.enter('r1', 'bob', 'B')
  await site.enter('r1', 'cleo', 'C')
  await site.enter('r1', 'carl', 'C')
  await site.pool.calls.addDevice('r1', camera('yard'), Deadline.in(5_000))
  const moved = site.next(isOf('roomMoved', 'c'))
  site.told.length = 0
  site.node('a').setFault(offline)
  await moved
  await expect.poll(() => site.room('r1').branches).toEqual(['b'])
  expect(site.pool.presence.usersOf('r1').map(({ userId }) => userId)).toEqual(['bob', 'cleo', 'carl'])
  expect(leftOf(site.told)).toEqual(['ann from a', 'yard from a'])
  expect(site.told).toContainEqual(expect.objectContaining({ type: 'deviceLost', userId: 'yard', kind: 'nodeFailed' }))
  await site.pool.calls.addDevice('r1', camera('yard'), Deadline.in(5_000))
  expect(await site.on('c', 'r1')).toContain('yard')
  expect(await site.enter('r1', 'ann')).toBe('c')
})

test('when a secondary node fails, its users are notified and find another one', async () => {
  const site = await secondarySite({ a: { max_users: 1 }, b: {}, c: {} })
  await site.enter('r1', 'ann')
  expect(await site.enter('r1', 'bob')).toBe('b')
  const gone = site.next((event) => event.type === 'roomNodes')
  site.node('b').setFault(offline)
  expect(await gone).toMatchObject({ nodes: ['a'] })
  expect(leftOf(site.told)).toEqual(['bob from b'])
  expect(await site.enter('r1', 'bob')).toBe('c')
})

test('when two nodes of a room fail, the last one keeps it', async () => {
  const site = await secondarySite({ a: {}, b: {}, c: {} })
  for (const [userId, idcCode] of [
    ['ann', 'A'],
    ['bob', 'B'],
    ['cleo', 'C'],
  ] as const)
    await site.enter('r1', userId, idcCode)
  site.node('a').setFault(offline)
  site.node('b').setFault(offline)
  await expect.poll(() => site.pool.index.nodesOf('r1')).toEqual(['c'])
  expect(site.pool.presence.usersOf('r1').map(({ userId }) => userId)).toEqual(['cleo'])
})

test('a draining node hands the room to a secondary node, keeps its users as long as they like, and has no cameras of it', async () => {
  const site = await secondarySite({ a: {}, b: {} })
  await site.enter('r1', 'ann', 'A')
  await site.pool.calls.addDevice('r1', camera('yard'), Deadline.in(5_000))
  await site.enter('r1', 'bob', 'B')
  const moved = site.next(isOf('roomMoved', 'b'))
  await site.pool.drainer.set('a', true)
  await moved
  expectNodes(site, 'r1', ['b', 'a'])
  await expect.poll(() => site.on('a', 'r1')).toEqual(['ann'])
  expect(site.told).toContainEqual(expect.objectContaining({ type: 'deviceLost', userId: 'yard' }))
  // No new user is sent there, not even on request.
  expect(await site.enter('r1', 'cleo', 'A')).toBe('b')
  expect(site.pool.nodes.views()[0]).toMatchObject({ state: 'draining', rooms_left: 1, drain: { people_left: 1 } })
  site.node('a').leavePerson('r1', 'ann')
  await expect.poll(() => site.pool.index.nodesOf('r1')).toEqual(['b'])
  expect(site.pool.nodes.views()[0]).toMatchObject({ rooms_left: 0 })
})

test('a draining secondary node is removed when its last user leaves, or at once if empty', async () => {
  const site = await secondarySite({ a: {}, b: {} }, { rooms: { r1: {}, r2: {} } })
  for (const roomId of ['r1', 'r2']) {
    await site.enter(roomId, 'ann', 'A')
    await site.enter(roomId, 'bob', 'B')
  }
  expectNodes(site, 'r2', ['a', 'b'])
  site.node('b').leavePerson('r2', 'bob')
  await site.pool.drainer.set('b', true)
  await expect.poll(() => site.pool.index.nodesOf('r2')).toEqual(['a'])
  expectNodes(site, 'r1', ['a', 'b'])
  site.node('b').leavePerson('r1', 'bob')
  await expect.poll(() => site.pool.index.nodesOf('r1')).toEqual(['a'])
})

test("nodes taken out of service redirect their users to the room's remaining nodes", async () => {
  const site = await secondarySite({ a: {}, b: {}, c: {} })
  for (const [userId, idcCode] of [
    ['ann', 'A'],
    ['bob', 'B'],
    ['cleo', 'C'],
  ] as const)
    await site.enter('r1', userId, idcCode)
  await site.addNode('c', { kind: 'janus', idc_code: 'C', enabled: false })
  await expect.poll(() => site.pool.index.nodesOf('r1')).toEqual(['a', 'b'])
  await site.addNode('a', { kind: 'janus', idc_code: 'A', enabled: false })
  await expect.poll(() => site.pool.index.nodesOf('r1')).toEqual(['b'])
  expect(site.pool.presence.usersOf('r1').map(({ userId }) => userId)).toEqual(['bob'])
  expect(leftOf(site.told)).toEqual(['cleo from c', 'ann from a'])
})

test('a room that becomes peer-to-peer leaves its secondary nodes', async () => {
  const site = await secondarySite({ a: {}, b: {}, z: { kind: 'embedded' } })
  await site.enter('r1', 'ann', 'A')
  await site.enter('r1', 'bob', 'B')
  await site.changeRoom('r1', { room_mode: 3 })
  await expect.poll(() => site.pool.index.nodesOf('r1')).toEqual(['z'])
  expect(leftOf(site.told).sort()).toEqual(['ann from a', 'bob from b'])
})

test('a restarted controller finds the users on all nodes of a room, and removes secondary nodes to which nobody returns', async () => {
  const rooms = {
    r1: { node: 'a', branches: ['b'] },
    r2: { node: 'a', branches: ['b'] },
    r3: { node: 'b', branches: ['a'] },
  }
  const site = await secondarySite({ a: {}, b: {} }, { rooms, secondaryIdleMs: 200 })
  for (const name of ['a', 'b']) {
    await expect
      .poll(async () => (await site.node(name).rooms(AbortSignal.timeout(5_000))).sort())
      .toEqual(['r1', 'r2', 'r3'])
  }
  site.node('b').joinPerson('r1', { userId: 'bob', userName: 'Bob' })
  await expect.poll(() => [site.pool.index.nodesOf('r2'), site.pool.index.nodesOf('r3')]).toEqual([['a'], ['b']])
  expectNodes(site, 'r1', ['a', 'b'])
})

test('a controller that starts while the own node of a room is down promotes a living secondary node', async () => {
  const site = await secondarySite({ a: {}, b: {} }, { rooms: { r1: { node: 'gone', branches: ['b'] } } })
  await expect.poll(() => site.pool.index.nodesOf('r1')).toEqual(['b'])
  expect(site.room('r1').branches).toBeUndefined()
})

test('an unreachable secondary node does not prevent a new one', async () => {
  const site = await secondarySite({ a: { max_users: 1 }, b: {}, c: {} })
  await site.enter('r1', 'ann')
  expect(await site.enter('r1', 'bob')).toBe('b')
  site.node('b').setFault(failing)
  await expect.poll(() => site.pool.index.nodesOf('r1')).toEqual(['a'])
  expect(await site.pool.callerNodes.nodeFor('r1')).toBe('c')
})

test('an empty room moves to a kind of node that can pull its camera', async () => {
  const site = await secondarySite(
    { a: {}, b: { kind: 'embedded' } },
    { rooms: { r1: { node: 'a' }, r2: { node: 'a' }, r3: {} } },
  )
  const { pool, store } = site
  expect(await site.enter('r2', 'ann')).toBe('a')
  expect(await pool.callerNodes.nodeFor('r1')).toBe('a')
  expect(await pool.callerNodes.nodeFor('r1', { avoid: 'janus' })).toBe('b')
  expect(store.get('rooms', 'r1')?.node).toBe('b')
  // Users are not moved because of a camera.
  expect(await pool.callerNodes.nodeFor('r2', { avoid: 'janus' })).toBe('a')
  expect(await pool.callerNodes.nodeFor('r3', { avoid: 'janus' })).toBe('b')
  // It stays there, whoever asks next; without another node, any node will do.
  expect(await pool.callerNodes.nodeFor('r1')).toBe('b')
  await pool.drainer.set('b', true)
  expect(await pool.callerNodes.nodeFor('r3', { avoid: 'janus' })).toBe('a')
})

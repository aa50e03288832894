import { Deadline } from '../../../../shared/deadline.ts'
import { expect, test } from 'vitest'
import type { NodeEvent, NodeRoom } from '../../../../server/nodes/port/media-node-port.ts'
import { SimulatedNode } from '../../../../server/nodes/simulated/simulated-node.ts'
import { camera } from '../../../support/sites/pool-site.ts'

const signal = new AbortController().signal

function room(fields: Partial<NodeRoom> = {}): NodeRoom {
  return {
    roomId: 'r1',
    topic: 'weekly',
    mode: 1,
    hostPassword: '',
    attendeeMax: 3,
    maxVideo: 16,
    maxAudio: 16,
    locked: false,
    ...fields,
  }
}

async function openNode(fields: Partial<NodeRoom> = {}): Promise<{ node: SimulatedNode; events: NodeEvent[] }> {
  const node = new SimulatedNode({ clock: () => 5 })
  const events: NodeEvent[] = []
  node.onEvent((event) => events.push(event))
  await node.openRoom(room(fields), signal)
  return { node, events }
}

test('the host password makes a host, everybody else is a member', async () => {
  const { node } = await openNode({ hostPassword: 'hunter2' })
  expect(node.joinPerson('r1', { userId: 'ann', userName: 'Ann', hostPassword: 'hunter2' }).role).toBe('host')
  expect(node.joinPerson('r1', { userId: 'bob', userName: 'Bob', hostPassword: 'hunter' }).role).toBe('member')
  expect(node.joinPerson('r1', { userId: 'cyd', userName: 'Cyd' }).role).toBe('member')
})

test('without a host password nobody is host, not even with an empty one', async () => {
  const { node } = await openNode()
  expect(node.joinPerson('r1', { userId: 'ann', userName: 'Ann', hostPassword: '' }).role).toBe('member')
})

test('the limit counts users and devices alike', async () => {
  const { node } = await openNode({ attendeeMax: 2 })
  node.joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  await node.addDevice('r1', camera('door'), Deadline.in(5_000, signal))
  expect(() => node.joinPerson('r1', { userId: 'bob', userName: 'Bob' })).toThrow('The room is full.')
  await expect(node.addDevice('r1', camera('gate'), Deadline.in(5_000, signal))).rejects.toMatchObject({
    kind: 'roomFull',
  })
  await node.kick('r1', 'door', signal)
  expect(node.joinPerson('r1', { userId: 'bob', userName: 'Bob' }).role).toBe('member')
})

test('a locked room admits nobody new, and opens again', async () => {
  const { node } = await openNode({ locked: true })
  expect(() => node.joinPerson('r1', { userId: 'ann', userName: 'Ann' })).toThrow('The room is locked.')
  await expect(node.addDevice('r1', camera('door'), Deadline.in(5_000, signal))).rejects.toMatchObject({
    kind: 'roomLocked',
  })
  await node.openRoom(room({ locked: false }), signal)
  node.joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  expect((await node.users('r1', signal)).map((user) => user.userId)).toEqual(['ann'])
})

test('a closed room and a userId in use are refused', async () => {
  const { node } = await openNode()
  expect(() => node.joinPerson('r2', { userId: 'ann', userName: 'Ann' })).toThrow('not open')
  node.joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  expect(() => node.joinPerson('r1', { userId: 'ann', userName: 'Ann' })).toThrow('already')
  await expect(node.addDevice('r1', camera('ann'), Deadline.in(5_000, signal))).rejects.toMatchObject({
    kind: 'nodeFailed',
  })
})

test('one camera with one login is pulled once, with another login again', async () => {
  const { node } = await openNode()
  await node.openRoom(room({ roomId: 'r2' }), signal)
  await node.addDevice('r1', camera('door'), Deadline.in(5_000, signal))
  await node.addDevice('r2', camera('door-too'), Deadline.in(5_000, signal))
  expect(await node.health(signal)).toEqual({ rooms: 2, users: 2, pulls: 1 })
  await node.addDevice('r2', { ...camera('guest'), login: undefined }, Deadline.in(5_000, signal))
  expect((await node.health(signal)).pulls).toBe(2)
  await node.removeDevice('r1', 'door', signal)
  expect((await node.health(signal)).pulls).toBe(2)
  await node.closeRoom('r2', signal)
  expect(await node.health(signal)).toEqual({ rooms: 1, users: 0, pulls: 0 })
})

test('it reports every join and leave in order', async () => {
  const { node, events } = await openNode()
  const ann = node.joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  await node.addDevice('r1', camera('door'), Deadline.in(5_000, signal))
  expect(node.loseDevice('r1', 'door', 'stalled')).toBe(true)
  expect(node.loseDevice('r1', 'ann', 'stalled')).toBe(false)
  expect(node.leavePerson('r1', 'bob')).toBe(false)
  await node.closeRoom('r1', signal)
  expect(events).toEqual([
    { type: 'joined', roomId: 'r1', user: ann },
    {
      type: 'joined',
      roomId: 'r1',
      user: { userId: 'door', userName: 'door', device: true, role: 'member', joinedAt: 5 },
    },
    { type: 'deviceLost', roomId: 'r1', userId: 'door', kind: 'stalled', detail: 'simulated' },
    { type: 'left', roomId: 'r1', userId: 'ann' },
  ])
})

test('offline it fails at once, and returns without rooms like a restarted server', async () => {
  const { node, events } = await openNode()
  node.joinPerson('r1', { userId: 'ann', userName: 'Ann' })
  node.setFault({ mode: 'offline', delayMs: 0 })
  await expect(node.health(signal)).rejects.toThrow('offline')
  expect(() => node.joinPerson('r1', { userId: 'bob', userName: 'Bob' })).toThrow('takes nobody')
  node.setFault({ mode: 'none', delayMs: 0 })
  expect(await node.rooms(signal)).toEqual([])
  expect(events.map((event) => event.type)).toEqual(['joined', 'restarted', 'restarted'])
})

test('silent it answers nobody until the caller gives up', async () => {
  const { node } = await openNode()
  node.setFault({ mode: 'silent', delayMs: 0 })
  const caller = new AbortController()
  const call = node.users('r1', caller.signal)
  caller.abort(new Error('given up'))
  await expect(call).rejects.toThrow('given up')
})

test('a slow node acts only when it answers, and not for a caller that gave up', async () => {
  const { node } = await openNode()
  node.setFault({ mode: 'slow', delayMs: 40 })
  const caller = new AbortController()
  const abandoned = node.addDevice('r1', camera('door'), Deadline.in(5_000, caller.signal))
  caller.abort(new Error('given up'))
  await expect(abandoned).rejects.toThrow('given up')
  expect(await node.users('r1', signal)).toEqual([])
})

test('a pending call fails when the node goes offline', async () => {
  const { node } = await openNode()
  node.setFault({ mode: 'slow', delayMs: 60_000 })
  const call = node.users('r1', signal)
  node.setFault({ mode: 'offline', delayMs: 0 })
  await expect(call).rejects.toThrow('cut')
})

test('device faults apply to the given addresses', async () => {
  const { node } = await openNode()
  node.setDeviceFaults([{ match: '10.0.0.9', kind: 'auth' }])
  await expect(
    node.addDevice('r1', camera('gate', 'rtsp://10.0.0.9:554/'), Deadline.in(5_000, signal)),
  ).rejects.toMatchObject({
    kind: 'auth',
  })
  await node.addDevice('r1', camera('door'), Deadline.in(5_000, signal))
  node.setDeviceFaults([{ match: '', kind: 'silent' }])
  const caller = new AbortController()
  const call = node.addDevice('r1', camera('hall'), Deadline.in(5_000, caller.signal))
  caller.abort(new Error('given up'))
  await expect(call).rejects.toThrow('given up')
})

test('a closed node answers nobody', async () => {
  const { node } = await openNode()
  await node.close()
  await node.close()
  await expect(node.health(signal)).rejects.toThrow('closed')
  expect(() => node.joinPerson('r1', { userId: 'ann', userName: 'Ann' })).toThrow('takes nobody')
})

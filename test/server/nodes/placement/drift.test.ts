import { expect, test } from 'vitest'
import { SimulatedNode } from '../../../../server/nodes/simulated/simulated-node.ts'
import { isOf, poolSite, type PoolSite, stateIs } from '../../../support/sites/pool-site.ts'

const offline = { mode: 'offline', delayMs: 0 } as const
const none = { mode: 'none', delayMs: 0 } as const
const signal = new AbortController().signal
const held = { mode: 1, topic: '', hostPassword: '', attendeeMax: 9, maxVideo: 1, maxAudio: 1, locked: false } as const

/** Lists the findings so far. */
const found = ({ told }: PoolSite): string[] =>
  told.flatMap((event) => (event.type === 'drifted' ? [`${event.kind} ${[...event.subjects].sort().join()}`] : []))

const driftOf = (site: PoolSite) => site.pool.nodes.views()[0]?.drift

/** Resolves after this many further polls of the node. */
async function polls(node: SimulatedNode, times: number): Promise<void> {
  const { health } = node
  let left = times
  const done = Promise.withResolvers<true>()
  node.health = (inner) => {
    left -= 1
    if (left === 0) done.resolve(true)
    return health.call(node, inner)
  }
  await done.promise
  node.health = health
}

test('a room missing on its node and a stray one are each reported once and counted', async () => {
  const site = await poolSite({ rooms: { r1: {}, r2: {} } })
  const before = Date.now()
  await site.pool.callerNodes.nodeFor('r1')
  await site.pool.callerNodes.nodeFor('r2')
  const node = site.node('main')
  await node.openRoom({ ...held, roomId: 'stray' }, signal)
  await expect.poll(() => found(site)).toEqual(['roomUnknown stray'])
  await node.closeRoom('r1', signal)
  await expect.poll(() => node.rooms(signal).then((rooms) => rooms.sort())).toEqual(['r1', 'r2'])
  await polls(node, 3)
  expect(found(site)).toEqual(['roomUnknown stray', 'roomMissing r1'])
  expect(driftOf(site)).toEqual({
    counts: { roomMissing: 1, roomUnknown: 1, cameraMissing: 0, cameraUnknown: 0 },
    last: { at: expect.any(Number), kind: 'roomMissing', count: 1, example: 'r1' },
  })
  expect(driftOf(site)?.last?.at).toBeGreaterThanOrEqual(before)
  expect([...site.pool.drift.counts()]).toEqual([
    { node: 'main', kind: 'roomMissing', count: 1 },
    { node: 'main', kind: 'roomUnknown', count: 1 },
  ])
})

test('a node that restarts without its rooms is one finding', async () => {
  const site = await poolSite({ rooms: { r1: {}, r2: {} } })
  await site.pool.callerNodes.nodeFor('r1')
  await site.pool.callerNodes.nodeFor('r2')
  const lost = site.next(stateIs('main', 'offline'))
  site.node('main').setFault(offline)
  await lost
  const back = site.next(isOf('online', 'main'))
  site.node('main').setFault(none)
  await back
  expect(found(site)).toEqual(['roomMissing r1,r2'])
})

test('a node that starts with the controller lacks nothing; one that kept running while the controller was away lacks the missing rooms', async () => {
  const rooms = { r1: { node: 'main' }, r2: { node: 'main' }, closed: { node: 'main', closed: true } }
  const own = await poolSite({ rooms })
  await expect.poll(() => own.node('main').rooms(signal)).toHaveLength(2)
  expect(found(own)).toEqual([])

  const janus = new SimulatedNode()
  await janus.openRoom({ ...held, roomId: 'r1' }, signal)
  await janus.openRoom({ ...held, roomId: 'deleted' }, signal)
  const other = await poolSite({ rooms, nodes: { main: { kind: 'janus' } }, driver: () => janus })
  await expect.poll(() => janus.rooms(signal).then((ids) => ids.sort())).toEqual(['r1', 'r2'])
  expect(found(other)).toEqual(['roomUnknown deleted', 'roomMissing r2'])
})

test('a node back in service lacks nothing, and removing a node removes its counts', async () => {
  const janus: SimulatedNode[] = []
  const driver = (): SimulatedNode => {
    const node = new SimulatedNode()
    janus.push(node)
    return node
  }
  const site = await poolSite({ rooms: { r1: { node: 'main' } }, nodes: { main: { kind: 'janus' } }, driver })
  await expect.poll(() => found(site)).toEqual(['roomMissing r1'])
  const node = site.store.get('nodes', 'main')
  if (node === undefined) throw new Error('no node')
  const store = (change: typeof node): Promise<void> =>
    site.store.transact([], (transaction) => transaction.put('nodes', 'main', change))
  await store({ ...node, enabled: false })
  await expect.poll(() => site.pool.nodes.views()[0]?.state).toBe('disabled')
  const back = site.next(isOf('online', 'main'))
  await store(node)
  await back
  await expect.poll(() => janus[1]?.rooms(signal)).toEqual(['r1'])
  expect(found(site)).toEqual(['roomMissing r1'])
  await site.store.transact([], (transaction) => transaction.delete('nodes', 'main'))
  await expect.poll(() => [...site.pool.drift.counts()]).toEqual([])
})

test('findings of a driver are counted as well', async () => {
  const site = await poolSite()
  const listeners: Parameters<SimulatedNode['onEvent']>[0][] = []
  const janus = new SimulatedNode()
  janus.onEvent = (listener) => {
    listeners.push(listener)
    return () => undefined
  }
  const other = await poolSite({ nodes: { main: { kind: 'janus' } }, driver: () => janus })
  listeners[0]?.({ type: 'drifted', kind: 'cameraUnknown', subjects: ['', 'door'] })
  expect(driftOf(other)?.last).toMatchObject({ kind: 'cameraUnknown', count: 2, example: 'door' })
  expect(driftOf(site)?.last).toBeNull()
})

test('a node back after a loss reports until when others are preferred, and no longer than that', async () => {
  let now = 1_000
  const site = await poolSite({ now: () => now })
  const view = () => site.pool.nodes.views()[0]?.unsteady
  expect(view()).toBeNull()
  const lost = site.next(stateIs('main', 'offline'))
  site.node('main').setFault(offline)
  await lost
  expect(view()).toBeNull()
  const back = site.next(isOf('online', 'main'))
  site.node('main').setFault(none)
  await back
  const until = view()?.until ?? 0
  expect(view()).toMatchObject({ losses: 1 })
  expect(until - Date.now()).toBeGreaterThan(5_000)
  expect(until - Date.now()).toBeLessThanOrEqual(10_001)
  now += 10_000
  expect(view()).toBeNull()
})

import { Deadline } from '../../../../shared/deadline.ts'
import { expect, test } from 'vitest'
import { SimulatedNode } from '../../../../server/nodes/simulated/simulated-node.ts'
import type { StoredNode } from '../../../../server/store/records.ts'
import { camera, poolSite } from '../../../support/sites/pool-site.ts'

const slow = { mode: 'slow', delayMs: 200 } as const
const silent = { mode: 'silent', delayMs: 0 } as const
const none = { mode: 'none', delayMs: 0 } as const

/** Delays the answers of named nodes, of every kind; the others answer at once. Janus servers keep their state when a controller ends. */
const answering =
  (faults: Record<string, typeof slow | typeof silent>) =>
  ({ name }: StoredNode): SimulatedNode => {
    const node = new SimulatedNode()
    node.setFault(faults[name] ?? none)
    return node
  }

test('a room stays on its Janus server when another controller takes over and another server answers sooner', async () => {
  const { pool, store } = await poolSite({
    nodes: { own: { kind: 'janus' }, other: { kind: 'janus' } },
    rooms: { r1: { node: 'own' } },
    driver: answering({ own: slow }),
    atOnce: true,
  })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('own')
  expect(store.get('rooms', 'r1')?.node).toBe('own')
})

test('requests for a node, for the users of a room or for a device wait until the first node has answered', async () => {
  const site = await poolSite({
    rooms: { r1: { node: 'main' }, r2: {}, r3: { node: 'main' } },
    driver: answering({ main: slow }),
    atOnce: true,
  })
  const { pool } = site
  const asked = await Promise.all([
    pool.callerNodes.nodeFor('r2'),
    pool.calls.users('r1'),
    pool.calls.kick('r1', 'nobody'),
    pool.assigner.assign('r3').then(() => pool.calls.addDevice('r3', camera('cam'), Deadline.in(5_000))),
  ])
  expect(asked).toEqual(['main', [], false, undefined])
})

test('a Janus server that does not answer the new controller delays requests for its rooms by one timeout at most', async () => {
  const { pool } = await poolSite({
    nodes: { own: { kind: 'janus' }, other: { kind: 'janus' } },
    rooms: { r1: { node: 'own' } },
    deadlines: { health_ms: 100 },
    driver: answering({ own: silent }),
    atOnce: true,
  })
  expect(await pool.callerNodes.nodeFor('r1')).toBe('other')
})

test('with every node offline, requests fail as soon as each was polled', async () => {
  const { pool } = await poolSite({
    rooms: { r1: {}, r2: { node: 'main' } },
    deadlines: { health_ms: 100 },
    driver: answering({ main: silent }),
    atOnce: true,
  })
  await expect(pool.callerNodes.nodeFor('r1')).rejects.toMatchObject({ code: 'noNode' })
  await expect(pool.calls.users('r2')).rejects.toMatchObject({ code: 'nodeOffline' })
})

test('a controller that has released its nodes reports nothing about rooms: the next one does', async () => {
  const { pool } = await poolSite({ rooms: { r1: { node: 'main' }, r2: {} } })
  await pool.callerNodes.nodeFor('r1')
  await pool.calls.addDevice('r1', camera('cam'), Deadline.in(5_000))
  const over = pool.stop()
  const asked = [
    () => pool.callerNodes.nodeFor('r2'),
    () => pool.assigner.assign('r1'),
    () => pool.calls.users('r1'),
    () => pool.calls.kick('r1', 'cam'),
    () => pool.calls.removeDevice('r1', 'cam'),
    async () => await pool.nodes.asked('r1'),
  ]
  for (const ask of asked)
    await expect(ask()).rejects.toMatchObject({ name: 'ApiError', cause: { name: 'PoolEndedError' } })
  await over
})

import fc from 'fast-check'
import { expect, vi } from 'vitest'
import { type PoolSite, poolSite } from '../../../support/sites/pool-site.ts'
import { type CallFault, callFaults, FaultyNode } from '../../../support/nodes/faulty-node.ts'
import { SharingNode } from '../../../support/nodes/sharing-node.ts'

const nodeNames = ['a', 'b', 'c'] as const
const roomIds = ['r1', 'r2', 'r3', 'r4', 'r5'] as const
type NodeName = (typeof nodeNames)[number]
type RoomId = (typeof roomIds)[number]

/** An event in the life of a site. */
type Step =
  | { do: 'add' | 'remove' | 'lock' | 'close' | 'reopen' | 'assign' | 'askClose' | 'join' | 'leave'; roomId: RoomId }
  | { do: 'put' | 'assignNear' | 'joinOn'; roomId: RoomId; on: NodeName }
  | { do: 'freeze' | 'crash' | 'cut' | 'mend' | 'disable' | 'enable' | 'drain'; on: NodeName }
  | { do: 'fail'; on: NodeName; faults: CallFault[] }
  | { do: 'wait'; milliseconds: number }

const room = fc.constantFrom(...roomIds)
const on = fc.constantFrom(...nodeNames)
const roomSteps = ['add', 'remove', 'lock', 'close', 'reopen', 'assign', 'askClose', 'join', 'leave'] as const
const nodeSteps = ['freeze', 'crash', 'cut', 'mend', 'disable', 'enable', 'drain'] as const
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom(...roomSteps), roomId: room }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('assign' as const), roomId: room }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('put' as const), roomId: room, on }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('assignNear' as const, 'joinOn' as const), roomId: room, on }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom(...nodeSteps), on }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      on,
      faults: fc.array(fc.constantFrom(...callFaults), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), milliseconds: fc.integer({ min: 0, max: 50 }) }),
  },
)

/** Generates a sequence of steps. */
export const story = fc.array(step, { minLength: 5, maxLength: 40 })

const signal = new AbortController().signal
const impatient = { node_ms: 25, health_ms: 25, health_interval_ms: 10 }
const patient = { node_ms: 5_000, health_ms: 5_000, health_interval_ms: 10 }

/**
 * Runs a story on a site of its own, then repairs everything: the nodes must converge to the store, and presence to the nodes.
 * @param kind `janus`: rooms may be on several nodes
 */
export async function staysTrue(steps: readonly Step[], kind: 'simulated' | 'janus' = 'simulated'): Promise<void> {
  const nodes = new Map<string, FaultyNode>()
  const records = { a: { kind, idc_code: 'a' }, b: { kind, idc_code: 'b' }, c: { kind, idc_code: 'c' } }
  const site = await poolSite({
    nodes: records,
    rooms: { r1: {}, r2: { node: 'a' }, r3: { node: 'b' } },
    deadlines: impatient,
    driver({ name }) {
      const node = kind === 'janus' ? new SharingNode() : new FaultyNode()
      nodes.set(name, node)
      return node
    },
  })
  const node = (name: string): FaultyNode => {
    const found = nodes.get(name)
    if (found === undefined) throw new Error(`no node ${name}`)
    return found
  }
  let people = 0
  const underWay: Promise<unknown>[] = []
  // Calls may fail meanwhile: only the final state counts.
  const ask = (call: Promise<unknown>): void => void underWay.push(call.catch(() => undefined))
  for (const each of steps) await happen(each)
  Object.assign(site.settings.deadlines, patient)
  for (const each of nodes.values()) each.mend()
  await Promise.all(nodeNames.map((name) => site.addNode(name, records[name])))
  await Promise.all(underWay)
  await vi.waitFor(() => expectAgreement(site, nodes), { timeout: 10_000, interval: 5 })
  await site.pool.stop()

  async function happen(each: Step): Promise<void> {
    switch (each.do) {
      case 'wait':
        return await new Promise((resolve) => setTimeout(resolve, each.milliseconds))
      case 'fail':
        return node(each.on).fail(each.faults)
      case 'freeze':
      case 'crash':
      case 'cut':
      case 'mend':
        return node(each.on)[each.do]()
      case 'disable':
      case 'enable':
        return await site.addNode(each.on, { ...records[each.on], enabled: each.do === 'enable' })
      case 'drain':
        return ask(site.pool.drainer.set(each.on, true))
      case 'add':
        if (site.store.get('rooms', each.roomId) === undefined) await site.addRoom(each.roomId, { id: ++people })
        return
      case 'remove':
        return await site.removeRoom(each.roomId)
      case 'assign':
        return ask(site.pool.callerNodes.nodeFor(each.roomId))
      case 'assignNear':
        return ask(site.pool.callerNodes.nodeFor(each.roomId, { idcCode: each.on }))
      case 'joinOn':
        return join(each.on, each.roomId, `w${people % 3}`)
      case 'askClose':
        return ask(site.pool.calls.close(each.roomId))
      case 'join':
      case 'leave':
        return meet(each.roomId, each.do)
      default:
        return await change(each)
    }
  }

  async function change(each: Extract<Step, { roomId: RoomId }>): Promise<void> {
    const stored = site.store.get('rooms', each.roomId)
    if (stored === undefined) return
    if (each.do === 'put') await site.changeRoom(each.roomId, { node: each.on })
    else if (each.do === 'lock') await site.changeRoom(each.roomId, { locked: !stored.locked, attendee_max: ++people })
    else await site.changeRoom(each.roomId, { closed: each.do === 'close' })
  }

  function meet(roomId: RoomId, what: 'join' | 'leave'): void {
    const name = site.store.get('rooms', roomId)?.node ?? ''
    if (name === '') return
    const first = site.pool.presence.usersOf(roomId)[0]
    if (what === 'leave') {
      if (first !== undefined)
        node(site.pool.presence.sessionOf(roomId, first.userId)?.node ?? name).leavePerson(roomId, first.userId)
      return
    }
    people += 1
    join(name, roomId, `p${people}`)
  }

  function join(name: string, roomId: string, userId: string): void {
    try {
      node(name).joinPerson(roomId, { userId, userName: 'Ann' })
    } catch {
      // Locked, full or not open there now: the same answers as for real users.
    }
  }
}

async function expectAgreement({ store, pool }: PoolSite, nodes: ReadonlyMap<string, FaultyNode>): Promise<void> {
  for (const [name, node] of nodes) {
    const wanted = [...store.all('rooms').values()].filter(
      (each) => [each.node, ...(each.branches ?? [])].includes(name) && !each.closed,
    )
    expect((await node.rooms(signal)).sort()).toEqual(wanted.map((each) => each.room_id).sort())
    for (const each of wanted) {
      const config = node.configs.get(each.room_id)
      expect([config?.locked, config?.attendeeMax]).toEqual([each.locked, each.attendee_max])
      const users = await node.users(each.room_id, signal)
      const known = pool.presence
        .usersOf(each.room_id)
        .filter(({ userId }) => pool.presence.sessionOf(each.room_id, userId)?.node === name)
      expect(byId(known)).toEqual(byId(users))
    }
  }
  const total = await Promise.all([...nodes.values()].map(async (node) => (await node.health(signal)).users))
  expect(pool.presence.totals().people).toBe(total.reduce((sum, users) => sum + users, 0))
}

function byId<U extends { userId: string }>(users: readonly U[]): U[] {
  return [...users].sort((one, other) => one.userId.localeCompare(other.userId))
}

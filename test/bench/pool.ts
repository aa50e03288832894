/**
 * Cost of assigning rooms to nodes as a site grows: `npm run bench -- pool`. 100 nodes in this process without media, so that only the controller's own work is
 * measured; the store writes to a disk as usual.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NodePool } from '../../server/nodes/pool/node-pool.ts'
import { SimulatedNode } from '../../server/nodes/simulated/simulated-node.ts'
import { openStore } from '../../server/store/open-store.ts'
import { createSealer } from '../../server/store/sealer.ts'
import type { Store } from '../../server/store/store.ts'
import { defaultSettings } from '../../shared/settings.ts'
import { storedNode, storedRoom } from '../support/stored-records.ts'
import { report } from './table.ts'

const nodeCount = 100
const fewRooms = 1_000
const manyRooms = 20_000
/** Concurrent requests for rooms. */
const burst = 100
const measured = 1_000
/** Permitted growth of the cost with 20 times the rooms: covers other load on the machine. */
const flat = 1.3
/** Goal for a room that has its node, which is only a lookup. */
const knownGoalUs = 10

/** Measures processor time of the first get_mcu of a room, with few rooms and with many; and of a later one. */
export async function measurePool(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-pool-'))
  const store = await openStore({ folder, sealer: createSealer(Buffer.alloc(32, 1)) })
  const settings = defaultSettings()
  const quiet = (): void => undefined
  const pool = new NodePool({
    store,
    settings: () => settings,
    logger: { debug: quiet, info: quiet, warn: console.error, error: console.error },
    drivers: { simulated: () => new SimulatedNode() },
    defaultAddress: () => '127.0.0.1:7082',
  })
  try {
    await store.transact([], (change) => {
      for (let n = 0; n < nodeCount; n++) change.put('nodes', `n${n}`, storedNode(`n${n}`, { weight: 1 + (n % 3) }))
    })
    await pool.start()
    const rooms = await roomsOf(store, manyRooms + 2 * measured)
    const next = (count: number): string[] => rooms.splice(0, count)
    await assign(pool, next(fewRooms))
    const few = await assign(pool, next(measured))
    await assign(pool, next(manyRooms - fewRooms - measured))
    const last = next(measured)
    const many = await assign(pool, last)
    const ratio = many / few
    const first = `${few.toFixed(0)} us with ${fewRooms} rooms, ${many.toFixed(0)} us with ${manyRooms}`
    const goal = `at most ${flat} times as much`
    report(
      `first get_mcu of a room, ${nodeCount} nodes: processor time`,
      `${first} (${ratio.toFixed(2)} times)`,
      goal,
      ratio <= flat,
    )
    const known = await assign(pool, Array.from({ length: 20 }, () => last).flat())
    report(
      'get_mcu of a room that has its node',
      `${known.toFixed(1)} us`,
      `under ${knownGoalUs} us`,
      known < knownGoalUs,
    )
  } finally {
    await pool.stop()
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function roomsOf(store: Store, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, n) => `r${n}`)
  await store.transact([], (change) => {
    for (const [n, roomId] of ids.entries()) change.put('rooms', roomId, storedRoom(roomId, { id: n + 1 }))
  })
  return ids
}

/** Processor time per room, in microseconds. */
async function assign(pool: NodePool, rooms: readonly string[]): Promise<number> {
  const before = process.cpuUsage()
  for (let from = 0; from < rooms.length; from += burst) {
    await Promise.all(rooms.slice(from, from + burst).map((roomId) => pool.callerNodes.nodeFor(roomId)))
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / rooms.length
}

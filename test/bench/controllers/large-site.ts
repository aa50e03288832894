import { setTimeout as sleep } from 'node:timers/promises'
import { ApiClient } from '../../support/api-client.ts'
import { ControllersSite, credential, type SiteController } from '../../support/sites/controllers-site.ts'
import type { PostgresServer } from '../../support/postgres/postgres-server.ts'
import { residentMegabytes } from '../process-figures.ts'
import { fillRooms } from '../site.ts'
import { report } from '../table.ts'

const rooms = 100_000
const kills = 5
/** Time for garbage to be collected before memory is compared, in milliseconds. */
const settleMs = 5_000

/** Calls in a row, as a client makes them. */
interface Calls {
  /** The longest that was answered well, in milliseconds. */
  longest: number
  failed: number
}

/** Measures a site of 100,000 rooms in a database: start, memory of a replica, a restore of everything under load, and the loss of the leader. */
export async function measureLargeSite(database: PostgresServer): Promise<void> {
  const site = await ControllersSite.start({ database, controllers: 1 })
  try {
    const [first] = site.controllers
    if (first === undefined) throw new Error('There is no controller.')
    await site.kill(first)
    await fillRooms(first.headless.folder, rooms, { database: site.address })
    await site.restart(first)
    const start = Math.round(first.headless.startedIn)
    report(`start with ${rooms} rooms in a database`, `${start} ms`, 'under 3000 ms', start < 3_000)
    const backup = (await first.headless.rpc('backups.make', {})).name
    await site.kill(first)
    await fillRooms(first.headless.folder, rooms, { database: site.address, topic: 'Another topic' })
    await site.restart(first)
    const second = await site.add('b')
    await followed(second)
    await sleep(settleMs)
    const [leads, follows] = [await megabytes(first), await megabytes(second)]
    const memory = `${Math.round(follows)} MB beside ${Math.round(leads)} MB`
    report(`memory of a replica beside the leader's, ${rooms} rooms`, memory, 'at most 1.2', follows <= leads * 1.2)
    await measureRestore(first, backup)
    await measureKills(site)
  } finally {
    await site.remove()
  }
}

async function measureRestore(leader: SiteController, backup: string): Promise<void> {
  const stop = new AbortController()
  const load = loadOn(leader, stop.signal)
  await sleep(1_000)
  const began = performance.now()
  await leader.headless.rpc('backups.restore', { name: backup })
  const took = Math.round(performance.now() - began)
  await sleep(1_000)
  stop.abort()
  const { reads, changes } = await load
  const said = `${took} ms; longest read ${reads.longest} ms, change ${changes.longest} ms; ${reads.failed + changes.failed} failed`
  const isGood = reads.failed + changes.failed === 0 && changes.longest < 5_000
  report(`restore of ${rooms} rooms under load`, said, 'no call fails', isGood)
}

/** Milliseconds from the loss of the leader until a room is made at another controller. */
async function measureKills(site: ControllersSite): Promise<void> {
  const took: number[] = []
  for (let turn = 0; turn < kills; turn++) {
    const leads = await site.leader()
    const other = site.controllers.find((one) => one !== leads)
    if (other === undefined) throw new Error('There is nobody to take over.')
    await followed(other)
    const client = await clientOf(other)
    await client.createRoom()
    const began = performance.now()
    await site.kill(leads)
    while ((await client.get('/rtc/room/create', { topic: 't', owner_id: 'o', room_mode: 1 })).ret !== 0) await sleep(5)
    took.push(Math.round(performance.now() - began))
    await site.restart(leads)
  }
  const most = Math.max(...took)
  report(
    `leader killed, ${rooms} rooms: until a change is answered`,
    `${took.join(', ')} ms`,
    'at most 1000 ms',
    most <= 1_000,
  )
}

/** Reads and changes rooms until the signal aborts. */
async function loadOn(controller: SiteController, until: AbortSignal): Promise<{ reads: Calls; changes: Calls }> {
  const client = await clientOf(controller)
  const loop = async (call: () => Promise<{ ret: number }>): Promise<Calls> => {
    const calls = { longest: 0, failed: 0 }
    while (!until.aborted) {
      const began = performance.now()
      const { ret } = await call()
      if (ret !== 0) calls.failed++
      calls.longest = Math.max(calls.longest, Math.round(performance.now() - began))
    }
    return calls
  }
  let turn = 0
  const room = (): string => String(100_000_001 + ((turn++ * 7_919) % rooms))
  const [reads, changes] = await Promise.all([
    loop(() => client.get('/rtc/room/get', { room_id: room() })),
    loop(() => client.get('/rtc/room/create', { topic: 't', owner_id: 'o', room_mode: 1 })),
  ])
  return { reads, changes }
}

/** Resolves when the replica has everything in memory. */
async function followed(controller: SiteController): Promise<void> {
  for (;;) {
    const { items } = await controller.headless.rpc('controllers.list', {})
    if (items.every(({ behind, gone }) => behind === 0 || gone) && items.length > 1) return
    await sleep(100)
  }
}

async function clientOf({ headless }: SiteController): Promise<ApiClient> {
  const client = new ApiClient(headless.ready, credential)
  await client.authenticate()
  return client
}

async function megabytes({ headless }: SiteController): Promise<number> {
  return await residentMegabytes(headless.ready.pid)
}

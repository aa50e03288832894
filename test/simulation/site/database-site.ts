import type { Extra } from '../extras.ts'
import { faults } from '../faults.ts'
import { BrokenPromise, History } from '../history.ts'
import { Machine } from '../machine.ts'
import { MediaClient } from '../media/media-client.ts'
import { RecordingWatch } from '../media/recording-watch.ts'
import { ScheduleClient } from '../media/schedule-client.ts'
import { ScheduleWatch } from '../media/schedule-watch.ts'
import { Network } from '../network.ts'
import { PostgresServer } from '../postgres/server.ts'
import type { World } from '../world.ts'
import { SimulatedController, type SimulatedSite } from './controller.ts'
import { LossWatch } from './losses.ts'
import type { Story } from './story.ts'
import { slowStatements, slowTakeOver } from './trials.ts'

/** Within this time after the last fault a controller leads (contract: takeover). */
const recoveredMs = 12_000

/** Extras for which clients order recordings. */
const recordedExtras = ['recordings', 'one recorder', 'pages', 'true refusals'] as const satisfies Extra[]
/** How often a run has a trial. */
const trialChance = 1 / 3
/** Within this time a live stream that nobody wants is not recorded any more, in milliseconds. */
const releasedMs = 27_000

/** A site of one to three controllers in PostgreSQL. */
export function databaseSite(world: World, extras: ReadonlySet<Extra>): Story {
  const network = new Network(world)
  const controllers: SimulatedController[] = []
  const clockMs = extras.has('schedules') ? world.between(0, 59_999) : 0
  const history = new History(world, () => controllers.find(({ leads }) => leads), extras.has('true refusals'))
  const orders = new History(world, () => undefined, extras.has('true refusals'))
  const schedules = new ScheduleWatch(world)
  const site: SimulatedSite = {
    ...{ world, network, servers: databaseOf(world, network), controllers, schedules, patienceMs: 12_000 },
    untilMeetings: () =>
      extras.has('schedules') ? 60_000 - ((world.time + clockMs) % 60_000) : Number.POSITIVE_INFINITY,
    hasDuties: [...recordedExtras, 'schedules' as const].some((extra) => extras.has(extra)),
  }
  for (const name of ['a', 'b', 'c'].slice(0, world.pick([1, 2, 2, 3, 3])))
    controllers.push(new SimulatedController(site, machineOf(world, name, clockMs)))
  const losses = extras.has('reported losses') ? new LossWatch(site, () => history.acknowledged) : undefined
  const watch = new RecordingWatch(site, orders, extras)
  const others: { start(): void; stop(): void }[] = []
  if (recordedExtras.some((extra) => extras.has(extra)))
    others.push(
      watch,
      ...['m1', 'm2', 'm3', 'm4'].map((name) => new MediaClient(site, orders, name, extras.has('pages'))),
    )
  if (extras.has('schedules')) others.push(new ScheduleClient(site, 'operator', clockMs))
  const trials: (() => Promise<void>)[] = []
  if (extras.has('slow statements') && world.chance(trialChance)) trials.push(() => slowStatements(site))
  if (extras.has('slow take-over') && world.chance(trialChance)) trials.push(() => slowTakeOver(site))
  return {
    site,
    history,
    others,
    forget: () => {
      history.forget()
      orders.forget()
      schedules.forget()
    },
    settle: () => {
      history.settle()
      orders.settle()
    },
    trials,
    recoveredMs,
    faults: faults.map(({ name, loses, begin }) => ({
      name,
      // A failover without a synchronous standby loses what it did not have yet.
      loses: () => loses === true || (name === 'failover' && isAsynchronous(site)),
      begin: () => begin(site),
    })),
    start: async () => {
      for (const controller of controllers) {
        controller.start()
        if (extras.has('status readers')) controller.readStatusRegularly()
        await world.run(world.time + world.between(0, 1_000))
      }
    },
    mend: () => {
      network.heal()
      for (const controller of controllers) {
        controller.machine.resume()
        if (controller.member === undefined) controller.start()
      }
    },
    check: async () => {
      expectSameMemory(site)
      losses?.check()
      if (others.length > 0) await world.run(world.time + releasedMs)
      if (recordedExtras.some((extra) => extras.has(extra))) watch.check()
      if (extras.has('schedules')) schedules.check()
    },
  }
}

function machineOf(world: World, name: string, clockMs: number): Machine {
  const machine = new Machine(world, name)
  machine.stepClock(clockMs)
  return machine
}

/** One server, or two with the second following, synchronously or not. */
function databaseOf(world: World, network: Network): readonly PostgresServer[] {
  const primary = new PostgresServer(world, network, 'db1', 'primary')
  if (world.chance(0.4)) return [primary]
  const standby = new PostgresServer(world, network, 'db2', 'standby')
  primary.standbys = [standby]
  primary.waitsFor = world.chance(0.6) ? 'any' : undefined
  standby.clockError = world.between(-200, 200)
  return [primary, standby]
}

function isAsynchronous({ servers }: SimulatedSite): boolean {
  return servers.every(({ waitsFor }) => waitsFor === undefined)
}

/** All controllers have what the database has. */
function expectSameMemory({ world, controllers }: SimulatedSite): void {
  const leader = controllers.find(({ leads }) => leads)
  const other = controllers.find((controller) => controller.rooms !== leader?.rooms)
  if (other === undefined) return
  world.note('HISTORY', `${other.name} has another memory than ${leader?.name}`)
  throw new BrokenPromise(`the memory of ${other.name} is not that of the leader ${leader?.name}`)
}

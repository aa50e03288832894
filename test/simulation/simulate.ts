import { type Fault, faults } from './faults.ts'
import { BrokenPromise, History } from './history.ts'
import { Machine } from './machine.ts'
import { Network } from './network.ts'
import { PostgresServer } from './postgres/server.ts'
import { SimulatedClient } from './site/client.ts'
import { SimulatedController, type SimulatedSite } from './site/controller.ts'
import { World } from './world.ts'

/** Times of one run, in simulated milliseconds. */
const calm = 6_000
const faulty = 60_000
/** Within this time after the last fault a controller leads, and changes are answered (contract: takeover). */
const recovered = 12_000
const settled = 8_000

/** How one run goes. */
export interface RunOptions {
  seed: number
  /** Names of faults; left out: all. */
  only?: readonly string[]
}

/** Result of one run. */
export interface RunResult {
  seed: number
  /** Undefined: every promise was kept. */
  broken: string | undefined
  trace: string
  /** Simulated milliseconds. */
  time: number
  answers: number
  acknowledged: number
  steps: number
}

/** Runs a site of one to three controllers through some faults, and checks what its clients were told. The same seed gives the same trace. */
export async function simulate({ seed, only }: RunOptions): Promise<RunResult> {
  const world = new World(seed)
  const network = new Network(world)
  const controllers: SimulatedController[] = []
  const history = new History(world, () => controllers.find(({ leads }) => leads))
  const site: SimulatedSite = { world, network, servers: databaseOf(world, network), controllers }
  for (const name of ['a', 'b', 'c'].slice(0, world.pick([1, 2, 2, 3, 3])))
    controllers.push(new SimulatedController(site, new Machine(world, name)))
  const [count, pauseMs] = world.pick([
    [3, 400],
    [3, 400],
    [8, 60],
  ] as const)
  const clients = Array.from(
    { length: count },
    (_, index) => new SimulatedClient(site, history, `client${index + 1}`, pauseMs),
  )
  let broken: string | undefined
  try {
    for (const controller of controllers) {
      controller.start()
      await world.run(world.time + world.between(0, 1_000))
    }
    for (const client of clients) client.start()
    await world.run(world.time + calm)
    await harm(site, history, choose(world, only))
    await expectService(site, clients)
    for (const client of clients) client.stop()
    await world.run(world.time + settled)
    await expectSameMemory(site)
    await readEverything(site, history, clients)
  } catch (error) {
    if (!(error instanceof BrokenPromise))
      world.note('ERROR', error instanceof Error ? (error.stack ?? '') : String(error))
    broken = error instanceof Error ? error.message : String(error)
  }
  const acknowledged = clients.reduce((sum, client) => sum + client.acknowledged, 0)
  return {
    seed,
    broken,
    trace: world.trace,
    time: world.time,
    answers: history.answers,
    acknowledged,
    steps: world.steps,
  }
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

/** A few kinds of faults: which ones come together differs from run to run. */
function choose(world: World, only: readonly string[] | undefined): readonly Fault[] {
  const known = only === undefined ? faults : faults.filter(({ name }) => only.includes(name))
  return Array.from({ length: world.between(1, 3) }, () => world.pick(known))
}

/** One fault after the other, some of them at once. */
async function harm(site: SimulatedSite, history: History, chosen: readonly Fault[]): Promise<void> {
  const { world } = site
  const end = world.time + faulty
  const ends: (() => void)[] = []
  while (world.time < end) {
    const fault = world.pick(chosen)
    const stop = fault.begin(site)
    if (stop !== undefined) {
      world.note('FAULT', fault.name)
      if (fault.loses === true || isLossy(site, fault)) history.forget()
      let isEnded = false
      const finish = (): void => {
        if (isEnded) return
        isEnded = true
        world.note('FAULT', `${fault.name} ends`)
        stop()
      }
      ends.push(finish)
      world.plan(world.pick([50, 300, 1_000, 3_000, 6_000, 15_000]) * (0.5 + world.random()), finish)
    }
    await world.run(world.time + world.pick([20, 300, 2_000, 5_000, 10_000]))
  }
  for (const finish of ends) finish()
  site.network.heal()
  for (const controller of site.controllers) {
    controller.machine.resume()
    if (controller.member === undefined) controller.start()
  }
  world.note('FAULT', 'all faults have ended')
}

/** A failover without a synchronous standby loses what it did not have yet. */
function isLossy(site: SimulatedSite, { name }: Fault): boolean {
  return name === 'failover' && site.servers.every(({ waitsFor }) => waitsFor === undefined)
}

/** Once faults have ended, changes are answered at every controller. */
async function expectService(site: SimulatedSite, clients: readonly SimulatedClient[]): Promise<void> {
  const { world, controllers } = site
  await world.run(world.time + recovered)
  const [client] = clients
  for (const controller of controllers) {
    let isDone = false
    const until = world.time + 5_500
    const tries = async (): Promise<void> => {
      // It changes rooms by itself, too: a change may come before the room is there.
      while (client !== undefined && !isDone && world.time < until - 500) isDone = await client.change(controller)
    }
    world.plan(0, () => void tries().catch(world.fail))
    await world.run(until)
    if (isDone) continue
    world.note('HISTORY', `no change is done at ${controller.name}`)
    throw new BrokenPromise(`a change at ${controller.name} was not done, ${recovered} ms after the last fault`)
  }
}

/** All controllers have what the database has. */
async function expectSameMemory({ world, controllers }: SimulatedSite): Promise<void> {
  const leader = controllers.find(({ leads }) => leads)
  const other = controllers.find((controller) => controller.rooms !== leader?.rooms)
  if (other === undefined) return
  world.note('HISTORY', `${other.name} has another memory than ${leader?.name}`)
  throw new BrokenPromise(`the memory of ${other.name} is not that of the leader ${leader?.name}`)
}

/** Every room is read at every controller. */
async function readEverything(
  { world, controllers }: SimulatedSite,
  history: History,
  clients: readonly SimulatedClient[],
): Promise<void> {
  const [client] = clients
  for (const controller of controllers)
    for (const key of history.keys) world.plan(0, () => void client?.read(controller, key).catch(world.fail))
  await world.run(world.time + settled)
}

import { BrokenPromise } from '../history.ts'
import type { SimulatedController, SimulatedSite } from './controller.ts'

/** Time within which another controller leads after its leader was killed, while each statement takes about a second, in milliseconds. */
const slowTakeOverMs = 40_000
/** How long a lead is watched while the database is slow, in milliseconds. */
const watchedMs = 20_000
/**
 * Within this time a hand-over has come to its end, in milliseconds: the changes under way and the take-over are some 30 statements and commits, one after the other.
 * @param slowness of a statement
 */
const handOverMs = (slowness: number): number => 2_000 + 50 * slowness
/** How long a statement takes in the middle, in milliseconds; a commit takes as long again. */
const slownesses = [50, 150, 250, 350] as const

/** The leader is killed while the database is slow: another one leads within a bound. */
export async function slowTakeOver(site: SimulatedSite): Promise<void> {
  const { world, servers, controllers } = site
  const leader = controllers.find(({ leads }) => leads)
  if (leader === undefined || controllers.length < 2) return
  note(site, 'the leader is killed while each statement takes about a second')
  for (const server of servers) server.slowness = 1_000
  await world.run(world.time + 2_000)
  const killed = controllers.find(({ leads }) => leads) ?? leader
  killed.kill(false)
  const until = world.time + slowTakeOverMs
  while (world.time < until && !controllers.some(({ leads }) => leads)) await world.run(world.time + 100)
  const hasLeader = controllers.some(({ leads }) => leads)
  for (const server of servers) server.slowness = 0.2
  killed.start()
  if (!hasLeader) broken(site, `nobody leads ${slowTakeOverMs} ms after the leader was killed with a slow database`)
  await settle(site)
}

/** Statements take a quarter of a second: the lead stays where it is, and can be handed over. */
export async function slowStatements(site: SimulatedSite): Promise<void> {
  const { world, servers, controllers } = site
  if (controllers.length < 2) return
  const slowness = world.pick(slownesses)
  note(site, `a statement takes ${slowness} ms`)
  for (const server of servers) server.slowness = slowness
  await world.run(world.time + 6_000)
  const leader = await staysLeader(site)
  const to = controllers.find((controller) => controller !== leader)
  if (to === undefined) return
  let result: string | undefined
  const began = world.time
  world.plan(
    0,
    () => {
      leader.handOver(to).then(
        (refusal) => (result = refusal),
        (error: unknown) => world.fail(error),
      )
    },
    leader.machine,
  )
  const isOver = (): boolean => (result === '' ? to.leads : result !== undefined)
  while (world.time < began + handOverMs(slowness) && !isOver()) await world.run(world.time + 100)
  if (result !== '' || !to.leads)
    broken(
      site,
      `the hand-over from ${leader.name} to ${to.name} failed with a slow database: ${result === undefined || result === '' ? 'it does not lead' : result}`,
    )
  note(site, `handed over within ${Math.round(world.time - began)} ms`)
  await staysLeader(site)
  for (const server of servers) server.slowness = 0.2
  await settle(site)
}

/** Watches that the lead stays where it is. @returns who leads */
async function staysLeader(site: SimulatedSite): Promise<SimulatedController> {
  const { world, controllers } = site
  const first = controllers.find(({ leads }) => leads)
  if (first === undefined) return broken(site, 'nobody leads while the database is slow')
  const { terms } = first
  const until = world.time + watchedMs
  while (world.time < until) {
    await world.run(world.time + 100)
    if (!first.leads || first.terms !== terms)
      return broken(site, `the lead of ${first.name} ended by itself while the database was slow`)
  }
  return first
}

/** Everything is fast again. */
async function settle({ world }: SimulatedSite): Promise<void> {
  await world.run(world.time + 8_000)
}

function note({ world }: SimulatedSite, what: string): void {
  world.note('TRIAL', what)
}

function broken(site: SimulatedSite, what: string): never {
  site.world.note('HISTORY', what)
  throw new BrokenPromise(what)
}

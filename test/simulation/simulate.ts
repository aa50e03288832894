import './disk/serve-fs.ts'
import './serve-time.ts'
import { type Extra, usualExtras } from './extras.ts'
import { BrokenPromise } from './history.ts'
import { SimulatedClient } from './site/client.ts'
import { databaseSite } from './site/database-site.ts'
import { fileSite } from './site/file-site.ts'
import type { SiteFault, Story } from './site/story.ts'
import { World } from './world.ts'

/** Times of one run, in simulated milliseconds. */
const calm = 6_000
const faulty = 60_000
const settled = 8_000

/** Lines of a trace that is kept whole. */
const wholeTrace = 1_000_000

/** Kinds of sites: where their state is. */
export const siteKinds = ['files', 'postgres'] as const
export type SiteKind = (typeof siteKinds)[number]

/** How one run goes. */
export interface RunOptions {
  seed: number
  /** Names of faults; left out: all. */
  only?: readonly string[]
  /** Left out: the seed decides. */
  store?: SiteKind
  /** Keeps the whole trace, not only its end. */
  whole?: boolean
  /** Left out: `usualExtras`. */
  extras?: readonly Extra[]
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

/** Runs a site through some faults, and checks what its clients were told. The same seed gives the same trace. */
export async function simulate({
  seed,
  only,
  store,
  whole = false,
  extras = usualExtras,
}: RunOptions): Promise<RunResult> {
  const world = new World(seed, whole ? wholeTrace : undefined)
  const kind = store ?? (seed % 3 === 0 ? 'files' : 'postgres')
  const has = new Set(extras)
  const story = kind === 'files' ? fileSite(world, has) : databaseSite(world, has)
  const { site, history } = story
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
    await story.start()
    for (const client of [...clients, ...story.others]) client.start()
    await world.run(world.time + calm)
    await harm(story, choose(story, only))
    await expectService(story, clients)
    story.settle()
    for (const trial of story.trials) await trial()
    for (const client of [...clients, ...story.others]) client.stop()
    await world.run(world.time + settled)
    await story.check()
    await readEverything(story, clients)
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

/** A few kinds of faults: which ones come together differs from run to run. */
function choose({ site: { world }, faults }: Story, only: readonly string[] | undefined): readonly SiteFault[] {
  const known = only === undefined ? faults : faults.filter(({ name }) => only.includes(name))
  return Array.from({ length: world.between(1, 3) }, () => world.pick(known))
}

/** One fault after the other, some of them at once. */
async function harm({ site: { world }, forget, mend }: Story, chosen: readonly SiteFault[]): Promise<void> {
  const end = world.time + faulty
  const ends: (() => void)[] = []
  while (world.time < end) {
    const fault = world.pick(chosen)
    const stop = fault.begin()
    if (stop !== undefined) {
      world.note('FAULT', fault.name)
      if (fault.loses()) forget()
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
  mend()
  world.note('FAULT', 'all faults have ended')
}

/** Once faults have ended, changes are answered at every controller. */
async function expectService(
  { site: { world, controllers }, recoveredMs }: Story,
  clients: readonly SimulatedClient[],
): Promise<void> {
  await world.run(world.time + recoveredMs)
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
    throw new BrokenPromise(`a change at ${controller.name} was not done, ${recoveredMs} ms after the last fault`)
  }
}

/** Every room is read at every controller. */
async function readEverything(
  { site: { world, controllers }, history }: Story,
  clients: readonly SimulatedClient[],
): Promise<void> {
  const [client] = clients
  for (const controller of controllers)
    for (const key of history.keys) world.plan(0, () => void client?.read(controller, key).catch(world.fail))
  await world.run(world.time + settled)
}

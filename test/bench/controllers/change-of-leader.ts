import { setTimeout as sleep } from 'node:timers/promises'
import { ControllersSite, roleOf, type SiteController } from '../../support/sites/controllers-site.ts'
import { handOver } from '../../support/controllers/hand-over.ts'
import { isChange } from '../../support/controllers/history.ts'
import { violations } from '../../support/controllers/history-checker.ts'
import { TirelessClients } from '../../support/controllers/tireless-clients.ts'
import type { PostgresServer } from '../../support/postgres/postgres-server.ts'
import { report } from '../table.ts'
import { shares } from './shares.ts'

/** Number of measurements of each kind. */
const times = { kills: 50, freezes: 10, byHand: 10 }
const seed = 1

/** Measures with three controllers and nine clients how long changes fail when the leader is killed, freezes or hands over. */
export async function measureChangeOfLeader(database: PostgresServer): Promise<void> {
  const site = await ControllersSite.start({ database })
  try {
    const clients = await TirelessClients.start(site, { seed, clients: 9, pauseMs: 5, givesUpMs: 700 })
    const killed = await each(times.kills, async () => {
      const leads = await site.leader()
      const took = await answeredAgain(clients, leads, async () => await site.kill(leads))
      await site.restart(leads)
      return took
    })
    reportChanges('leader killed', killed, 1_000)
    const frozen = await each(times.freezes, async () => {
      const leads = await site.leader()
      const took = await answeredAgain(clients, leads, () => site.freeze(leads, true))
      site.freeze(leads, false)
      await standsBy(leads)
      return took
    })
    reportChanges('leader stands still', frozen, 5_000)
    const byHand = await each(times.byHand, async () => await handedOver(site, clients))
    reportChanges('handed over by hand, with the longest wait of a call', byHand, 1_000)
    await clients.stop()
    await site.leader()
    await clients.readEverything()
    const found = violations(clients.history)
    for (const { what } of found) console.error(what)
    const said = `${found.length} in ${clients.history.length} calls`
    report('calls that the history of one site does not explain', said, 'none', found.length === 0)
  } finally {
    await site.remove()
  }
}

async function each(count: number, once: () => Promise<number>): Promise<number[]> {
  const took: number[] = []
  for (let turn = 0; turn < count; turn++) took.push(await once())
  return took
}

function reportChanges(what: string, took: readonly number[], goal: number): void {
  const { p50, p95, most } = shares(took)
  const said = `median ${p50} ms, p95 ${p95} ms, at most ${most} ms`
  report(`${what}, ${took.length} times: until a change is answered`, said, `p95 below ${goal} ms`, p95 < goal)
}

/** Milliseconds from a fault of the leader to the first answer of another address to a change requested after it. */
async function answeredAgain(
  clients: TirelessClients,
  leads: SiteController,
  fault: () => void | Promise<void>,
): Promise<number> {
  const from = clients.history.length
  const began = performance.now()
  await Promise.all([fault(), clients.moreChanges(3)])
  const answers = clients.history
    .slice(from)
    .filter((call) => call.start >= began && call.at !== leads.name && call.outcome.as === 'done' && isChange(call))
  if (answers.length === 0) throw new Error('No change was answered.')
  return Math.min(...answers.map(({ end }) => end)) - began
}

/** Hands over to another. @returns the longer of the handover and of the calls that waited for it, in milliseconds */
async function handedOver(site: ControllersSite, clients: TirelessClients): Promise<number> {
  const leads = await site.leader()
  const next = site.controllers.find((one) => one !== leads)
  if (next === undefined) throw new Error('There is nobody to hand over to.')
  const from = clients.history.length
  const took = await handOver(site, leads, next)
  await clients.moreChanges(30)
  return Math.max(took, ...clients.history.slice(from).map(({ start, end }) => end - start))
}

async function standsBy(controller: SiteController): Promise<void> {
  while ((await roleOf(controller)) !== 'standby') await sleep(20)
}

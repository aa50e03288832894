import { onTestFinished } from 'vitest'
import { ControllersSite, type SiteOptions } from '../sites/controllers-site.ts'
import type { Call } from './history.ts'
import { violations } from './history-checker.ts'
import { type ClientsOptions, TirelessClients } from './tireless-clients.ts'

/** Number of violations that are reported in full. */
const maxReported = 3

/** Options of a story: of its site, and of its clients. */
export type ProofOptions = SiteOptions & Partial<ClientsOptions>

/** Tools of a story. */
export interface Proof {
  site: ControllersSite
  clients: TirelessClients
}

/** Seed of a run: ROOMDESK_HISTORY_SEED, or a random one. */
export function historySeed(): number {
  return Number(process.env.ROOMDESK_HISTORY_SEED ?? Math.floor(Math.random() * 2 ** 31))
}

/**
 * Runs several controllers under clients that never stop, and a story on them. At the end all controllers run, everything is read once more, and the whole history is checked.
 * @returns the history
 * @throws Error with the first violations, each with all calls of its room
 */
export async function proved(options: ProofOptions, story: (proof: Proof) => Promise<void>): Promise<readonly Call[]> {
  const seed = options.seed ?? historySeed()
  console.info(`seed ${seed} (npm run faults -- --seed ${seed}, or ROOMDESK_HISTORY_SEED)`)
  const site = await ControllersSite.start(options)
  onTestFinished(() => site.remove())
  const clients = await TirelessClients.start(site, { clients: 6, ...options, seed })
  try {
    await story({ site, clients })
    await clients.moreChanges(20)
  } finally {
    await clients.stop()
  }
  await site.leader()
  await clients.readEverything()
  const { history } = clients
  const found = [...violations(history), ...(await journalViolations(site))]
  if (found.length > 0) {
    const whole = found.slice(0, maxReported).map(({ what, calls }) => [what, ...calls].join('\n  '))
    throw new Error(`${found.length} violations (seed ${seed}):\n${whole.join('\n')}${site.lastWords()}`)
  }
  console.info(summary(history))
  return history
}

/** Checks the journal: its numbers have no gaps, and epochs never decrease. */
async function journalViolations(site: ControllersSite): Promise<{ what: string; calls: string[] }[]> {
  const lines = await site.journal()
  const wrong = lines.filter(({ seq, epoch }, index) => {
    const before = lines[index - 1]
    return before !== undefined && (seq !== before.seq + 1 || epoch < before.epoch)
  })
  if (wrong.length === 0) return []
  return [{ what: 'Lines of the journal do not follow one another.', calls: wrong.map((line) => JSON.stringify(line)) }]
}

/** Counts the outcomes. */
function summary(history: readonly Call[]): string {
  const counts = new Map<string, number>()
  for (const { outcome } of history) {
    const name = outcome.as === 'open' ? `open (${outcome.ret ?? 'no answer'})` : outcome.as
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const longest = Math.max(...history.map(({ start, end }) => end - start))
  const parts = [...counts].sort(([, one], [, other]) => other - one).map(([name, count]) => `${count} ${name}`)
  return `${history.length} calls: ${parts.join(', ')}; the longest took ${Math.round(longest)} ms`
}

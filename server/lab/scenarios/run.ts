import type { ConsoleResult } from '../../../shared/domain/outcome.ts'
import { seededRandom } from '../../../shared/seeded-random.ts'
import { type ApiAddresses, ScenarioClients } from './clients.ts'
import type { ScenarioClock } from './clock.ts'
import { executeStep, type StepContext, type StepOutcome } from './execute-step.ts'
import type { Scenario } from './format.ts'
import { MissingValueError, type Step } from './step-schema.ts'

/** A step with its time. */
export interface PlannedStep {
  /** Number of the step in the file, from 1. */
  number: number
  /** Scenario time, in milliseconds. */
  at: number
  step: Step
}

/** The course of a scenario with one seed. */
export interface Plan {
  steps: readonly PlannedStep[]
  /** Drawn values by name. */
  values: ReadonlyMap<string, unknown>
  /** Random function for what is drawn during the run. */
  random: () => number
}

/** Draws the times and values of a scenario, and returns its steps in the order of their times. */
export function planOf({ steps, draw }: Pick<Scenario, 'steps' | 'draw'>, seed: number): Plan {
  const random = seededRandom(seed)
  const planned = steps.map((step, index): PlannedStep => {
    const { at = 0, between } = step
    const [from, to] = between ?? [at, at]
    return { number: index + 1, at: between === undefined ? at : Math.round(from + random() * (to - from)), step }
  })
  const values = Object.entries(draw).map(([name, list]) => [name, list[Math.floor(random() * list.length)]] as const)
  return { steps: planned.toSorted((one, other) => one.at - other.at), values: new Map(values), random }
}

/** The site on which a scenario runs. */
export interface ScenarioSite {
  /** Calls a procedure of the console; never rejects. */
  call: (procedure: string, input: unknown) => Promise<ConsoleResult<unknown>>
  addresses: ApiAddresses
  /** Called with the id of each room and device that a step made; undefined: not needed. */
  made?: StepContext['made']
  /** Uses this random function for the probability of fault rules; undefined: the usual one. */
  useRandom: (random: (() => number) | undefined) => void
}

/** A step with its outcome. */
export interface StepVerdict extends PlannedStep {
  outcome: StepOutcome
  /** Real duration, in milliseconds. */
  took: number
}

/** Called at the begin and the end of each step. */
interface RunListener {
  onBegin?: (planned: PlannedStep) => void
  onEnd?: (verdict: StepVerdict) => void
}

/**
 * Runs the steps of a plan one after the other.
 * @returns the verdict on each step; steps after an interruption are skipped
 */
export async function runScenario(
  { site: { credentials = [] } }: Pick<Scenario, 'site'>,
  plan: Plan,
  site: ScenarioSite,
  clock: ScenarioClock,
  signal: AbortSignal,
  { onBegin, onEnd }: RunListener = {},
): Promise<StepVerdict[]> {
  const secrets = new Map(credentials.map(({ access_key, secret_key }) => [access_key, secret_key]))
  const context: StepContext = {
    call: site.call,
    made: site.made ?? (() => {}),
    clients: new ScenarioClients(site.addresses, secrets),
    usualClient: credentials[0]?.access_key ?? '',
    values: new Map(plan.values),
    signal,
  }
  const verdicts: StepVerdict[] = []
  site.useRandom(plan.random)
  try {
    for (const planned of plan.steps) {
      await clock.until(planned.at, signal).catch(rethrowUnless(signal))
      const began = performance.now()
      if (!signal.aborted) onBegin?.(planned)
      const outcome = await outcomeOf(planned, context)
      const verdict = { ...planned, outcome, took: Math.round(performance.now() - began) }
      verdicts.push(verdict)
      onEnd?.(verdict)
    }
  } finally {
    site.useRandom(undefined)
  }
  return verdicts
}

const rethrowUnless =
  (signal: AbortSignal) =>
  (error: unknown): void => {
    if (!signal.aborted) throw error
  }

async function outcomeOf({ step }: PlannedStep, context: StepContext): Promise<StepOutcome> {
  const { signal } = context
  if (signal.aborted) return { outcome: 'skipped', reason: 'the run was stopped' }
  try {
    return await executeStep(step, context)
  } catch (error) {
    if (error instanceof MissingValueError)
      return { outcome: 'skipped', reason: `no earlier step gave \${${error.missing}}` }
    if (signal.aborted) return { outcome: 'skipped', reason: 'the run was stopped' }
    throw error
  }
}

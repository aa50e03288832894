import { seededRandom } from '../../../shared/seeded-random.ts'
import type { Scenario } from './format.ts'
import type { Step } from './step-schema.ts'

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

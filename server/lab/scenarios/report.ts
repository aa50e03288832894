import { junitXml, type JunitCase } from '../junit.ts'
import type { Scenario } from './format.ts'
import type { StepVerdict } from './run.ts'
import { shownDuration, type Worded } from './step-schema.ts'

/** A run with its circumstances. */
interface ScenarioReport {
  scenario: Pick<Scenario, 'name' | 'title'>
  seed: number
  verdicts: readonly StepVerdict[]
  /** Those that the report lists; it counts all. */
  listed: readonly StepVerdict[]
  /** Start, in ISO 8601. */
  startedAt: string
  milliseconds: number
}

/** Returns a text in English. */
export function inEnglish(text: Worded): string {
  return typeof text === 'string' ? text : text.en
}

/** Counts the verdicts of each outcome. */
function countOutcomes(verdicts: readonly StepVerdict[]): Record<StepVerdict['outcome']['outcome'], number> {
  const counts = { broken: 0, skipped: 0, holds: 0 }
  for (const { outcome } of verdicts) counts[outcome.outcome] += 1
  return counts
}

const words = { holds: 'holds', broken: 'does not hold', skipped: 'skipped' } as const

/** Returns the lines of a step for people. */
export function stepLines({ at, step, outcome }: StepVerdict): string[] {
  const first = `${shownDuration(at).padStart(9)}  ${words[outcome.outcome].padEnd(13)}  ${inEnglish(step.say)}`
  switch (outcome.outcome) {
    case 'holds':
      return [first]
    case 'skipped':
      return [first, `${' '.repeat(26)}${outcome.reason}`]
    case 'broken':
      return [first, `${' '.repeat(26)}expected  ${outcome.expected}`, `${' '.repeat(26)}came      ${outcome.came}`]
  }
}

/** Returns the outcome of a run in one sentence. */
export function verdictSentence({ verdicts, seed, milliseconds }: ScenarioReport): string {
  const { broken, skipped, holds } = countOutcomes(verdicts)
  const first = broken + skipped === 0 ? `All ${holds} steps hold` : `${holds} steps hold, ${broken} do not`
  const more = skipped === 0 ? '' : `, ${skipped} were skipped`
  return `${first}${more}. (seed ${seed}, ${(milliseconds / 1_000).toFixed(1)} s)`
}

/** Returns the report as JSON. Everything but `milliseconds`, `took` and `started_at` is the same for the same seed. */
export function jsonReport(report: ScenarioReport): string {
  const { scenario, seed, verdicts, listed, startedAt, milliseconds } = report
  const steps = listed.map(({ number, at, step, outcome, took }) => ({
    number,
    at,
    say: inEnglish(step.say),
    ...outcome,
    took,
  }))
  const { name } = scenario
  const counts = countOutcomes(verdicts)
  return `${JSON.stringify({ scenario: name, seed, started_at: startedAt, milliseconds, counts, steps }, undefined, 2)}\n`
}

/** Returns the report as JUnit XML: a test suite per scenario, a test case per step. */
export function junitReport({ scenario, listed, startedAt, milliseconds }: ScenarioReport): string {
  const cases = listed.map((verdict) => ({
    name: `${verdict.number}: ${inEnglish(verdict.step.say)}`,
    result: resultOf(verdict),
  }))
  const suites = [{ name: inEnglish(scenario.title), cases }]
  return junitXml({ name: scenario.name, startedAt, milliseconds, suites })
}

function resultOf({ outcome }: StepVerdict): JunitCase['result'] {
  switch (outcome.outcome) {
    case 'holds':
      return 'passed'
    case 'skipped':
      return { skipped: outcome.reason }
    case 'broken':
      return { failed: `expected ${outcome.expected}, came ${outcome.came}` }
  }
}

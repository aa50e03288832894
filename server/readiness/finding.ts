import type { FindingName, readinessFindings } from '../../shared/console/readiness-findings.ts'
import { fill, type Values } from '../../shared/refusals/template.ts'
import sentences from '../../texts/en/console/readinessFindings.json' with { type: 'json' }

/** Result of a check, without its name and time. */
export interface Finding {
  finding: FindingName
  values: Values
}

/**
 * A check, whose signal aborts at the timeout.
 * @throws any error, which is reported as `checkFailed`
 */
export type Check = (signal: AbortSignal) => Promise<Finding>

type FindingValues<N extends FindingName> = Readonly<
  Record<(typeof readinessFindings)[N]['values'][number], string | number>
>
/** Arguments with the values of a finding; empty for a finding without values. */
type FindingArguments<N extends FindingName> = keyof FindingValues<N> extends never ? [] : [values: FindingValues<N>]

/** Creates a finding with the values for its sentences. */
export function found<N extends FindingName>(finding: N, ...given: FindingArguments<N>): Finding {
  return { finding, values: given[0] ?? {} }
}

/** Returns the English sentences of a finding. */
export function sentencesOf({ finding, values }: Finding): { message: string; advice: string } {
  const worded = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, withUnit(name, value)]))
  const { message, advice } = sentences[finding]
  return { message: fill(message, worded), advice: fill(advice, worded) }
}

/** Appends the unit to a value, according to the suffix of its name. */
function withUnit(name: string, value: string | number): string | number {
  if (typeof value === 'string') return value
  if (name.endsWith('_ms')) return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`
  if (name.endsWith('_bytes')) return `${(value / 1e9).toFixed(1)} GB`
  return value
}

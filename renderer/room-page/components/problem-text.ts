import type { DeviceInput } from '../local/device-input.ts'
import { texts } from '../texts/texts.ts'

/** Describes a problem of a microphone or camera and the remedy; empty: no problem. */
export function problemText({ kind, problem }: Pick<DeviceInput, 'kind' | 'problem'>): string {
  if (problem === null) return ''
  const problems: Readonly<Record<string, string>> = texts.value.problems
  const kindOf = kind === 'audio' ? 'mic' : 'cam'
  const name = problem === 'insecure' ? problem : `${kindOf}${problem.charAt(0).toUpperCase()}${problem.slice(1)}`
  return problems[name] ?? ''
}

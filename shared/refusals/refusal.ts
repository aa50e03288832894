import { accessRefusals } from './access.ts'
import { apiRefusals } from './api.ts'
import { roomRefusals } from './rooms.ts'
import { siteRefusals } from './site.ts'
import { type ConsoleErrorCode, fill, type Values, type ValuesOf } from './template.ts'

/**
 * All refusals of console procedures, each with its code and English sentence. The console has a text for each name in
 * each of its languages.
 */
export const refusals = { ...apiRefusals, ...accessRefusals, ...roomRefusals, ...siteRefusals }

export type RefusalName = keyof typeof refusals
/** Values of a refusal by name, as in its sentence. */
type RefusalValues<N extends RefusalName> = ValuesOf<(typeof refusals)[N][1]>
/** Arguments for the values of a refusal; empty: it has no values. */
type RefusalArguments<N extends RefusalName> = keyof RefusalValues<N> extends never ? [] : [values: RefusalValues<N>]

/** Refusal of a request: English message for logs and scripts, and name and values for pages. */
export interface Refusal {
  readonly name: RefusalName
  readonly code: ConsoleErrorCode
  readonly values: Values
  /** Message in one English sentence. */
  readonly message: string
}

/** Creates a refusal from the table. */
export function refusal<N extends RefusalName>(name: N, ...given: RefusalArguments<N>): Refusal {
  const values: Values = given[0] ?? {}
  const [code, sentence] = refusals[name]
  return { name, code, values, message: fill(sentence, values) }
}

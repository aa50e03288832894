import { accessRefusals } from './access.ts'
import { apiRefusals } from './api.ts'
import { roomRefusals } from './rooms.ts'
import { siteRefusals } from './site.ts'
import { type ConsoleErrorCode, fill, type Values, type ValuesOf } from './template.ts'

/**
 * All refusals of console procedures: code and English sentence of each. The console has a text for each name in its
 * languages.
 */
export const refusals = { ...apiRefusals, ...accessRefusals, ...roomRefusals, ...siteRefusals }

export type RefusalName = keyof typeof refusals
/** Values of a refusal by name, as in its sentence. */
type RefusalValues<N extends RefusalName> = ValuesOf<(typeof refusals)[N][1]>
/** Empty for a refusal without values. */
type RefusalArguments<N extends RefusalName> = keyof RefusalValues<N> extends never ? [] : [values: RefusalValues<N>]

/** Refusal: a message for logs and scripts, and name and values for pages. */
export interface Refusal {
  readonly name: RefusalName
  readonly code: ConsoleErrorCode
  readonly values: Values
  /** One English sentence. */
  readonly message: string
}

/** Creates a refusal of the table. */
export function refusal<N extends RefusalName>(name: N, ...given: RefusalArguments<N>): Refusal {
  const values: Values = given[0] ?? {}
  const [code, sentence] = refusals[name]
  return { name, code, values, message: fill(sentence, values) }
}

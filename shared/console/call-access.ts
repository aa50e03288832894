import { declarationOf, type ProcedureName } from './contract.ts'
import type { ProcedureAccess, SiteBefore } from './procedure-access.ts'

interface CallAccess extends ProcedureAccess {
  /**
   * Whether a session requires a recently entered password, because what the call creates outlives the session by far.
   * Tokens do not require a password, because what a token creates ends with the token.
   */
  readonly freshSession: boolean
}

/**
 * Returns the access that a call requires, which may depend on its input. @param input result of the procedure's schema
 */
export function accessOfCall(name: ProcedureName, input: unknown, before: SiteBefore): CallAccess {
  const { access, needs, lifetime } = declarationOf(name)
  const needed: ProcedureAccess = { ...access, ...needs?.(input, before) }
  // This setting is the longest lifetime that a person with a recently entered password has allowed.
  const outlives = (lifetime?.(input, before) ?? 0) > before.settings.media.link_life_ms
  return { ...needed, scope: needed.person ? 'none' : needed.scope, freshSession: needed.person || outlives }
}

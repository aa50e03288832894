import { declarationOf, type ProcedureName } from './contract.ts'
import type { ProcedureAccess, SiteBefore } from './procedure-access.ts'

interface CallAccess extends ProcedureAccess {
  /**
   * Whether a session requires a recently entered password, because what the call creates long outlives the session.
   * Tokens do not require this: what a token creates ends with it.
   */
  readonly freshSession: boolean
}

/** Returns the access required by a call, depending on its input. @param input output of the procedure's schema */
export function accessOfCall(name: ProcedureName, input: unknown, before: SiteBefore): CallAccess {
  const { access, needs, lifetime } = declarationOf(name)
  const needed: ProcedureAccess = { ...access, ...needs?.(input, before) }
  // The setting is the longest lifetime that a person with a password has allowed.
  const outlives = (lifetime?.(input, before) ?? 0) > before.settings.media.link_life_ms
  return { ...needed, scope: needed.person ? 'none' : needed.scope, freshSession: needed.person || outlives }
}

import { declarationOf, type ProcedureName } from './contract.ts'
import type { ProcedureAccess, SiteBefore } from './procedure-access.ts'

/** Access required by one call. */
interface CallAccess extends ProcedureAccess {
  /** A session needs a password given just now, because what the call makes outlives it for long. A token does not: what it makes ends with it. */
  readonly freshSession: boolean
}

/**
 * Access required by one call, by its input.
 * @param input output of the procedure's schema
 */
export function accessOfCall(name: ProcedureName, input: unknown, before: SiteBefore): CallAccess {
  const { access, needs, lifetime } = declarationOf(name)
  const needed: ProcedureAccess = { ...access, ...needs?.(input, before) }
  // The setting is the longest life that a person with a password has allowed.
  const outlives = (lifetime?.(input, before) ?? 0) > before.settings.media.link_life_ms
  return { ...needed, scope: needed.person ? 'none' : needed.scope, freshSession: needed.person || outlives }
}

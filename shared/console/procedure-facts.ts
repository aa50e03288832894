import type { ProcedureName, RecordedProcedure } from './contract.ts'
import { procedureGroups } from './procedure-groups.ts'
import { atLeast, type Role } from '../domain/roles.ts'
import { type TokenScope, tokenScopes } from '../domain/token-scopes.ts'

/** Facts of each procedure for pages, which do not load the declarations. */
export const procedureFacts = Object.fromEntries(
  procedureGroups.flatMap((group) => group.names.map((name) => [name, group])),
) as Readonly<Record<ProcedureName, (typeof procedureGroups)[number]>>

/** Procedures that write a `site.changed` event. */
export const recordedProcedures = procedureGroups
  .filter(({ recorded }) => recorded)
  .flatMap(({ names }) => names as RecordedProcedure[])

/**
 * Returns the scopes within an account's role: those whose least restricted procedure the role may call. A token stored
 * with only a role has these scopes.
 */
export function scopesOfRole(role: Role): TokenScope[] {
  const isWithin = (scope: TokenScope): boolean =>
    role === 'admin' || procedureGroups.some((group) => group.scope === scope && atLeast(role, group.role))
  return tokenScopes.filter(isWithin)
}

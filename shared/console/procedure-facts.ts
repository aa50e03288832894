import type { ProcedureName, RecordedProcedure } from './contract.ts'
import { procedureGroups } from './procedure-groups.ts'
import { atLeast, type Role } from '../domain/roles.ts'
import { type TokenScope, tokenScopes } from '../domain/token-scopes.ts'

/** Facts about each procedure, for pages that do not load the declarations. */
export const procedureFacts = Object.fromEntries(
  procedureGroups.flatMap((group) => group.names.map((name) => [name, group])),
) as Readonly<Record<ProcedureName, (typeof procedureGroups)[number]>>

/** Procedures that write a `site.changed` event. */
export const recordedProcedures = procedureGroups
  .filter(({ recorded }) => recorded)
  .flatMap(({ names }) => names as RecordedProcedure[])

/**
 * Returns the scopes that an account with this role can use: those with at least one procedure that the role may call.
 * A token stored with only a role has these scopes.
 */
export function scopesOfRole(role: Role): TokenScope[] {
  const isWithin = (scope: TokenScope): boolean =>
    role === 'admin' || procedureGroups.some((group) => group.scope === scope && atLeast(role, group.role))
  return tokenScopes.filter(isWithin)
}

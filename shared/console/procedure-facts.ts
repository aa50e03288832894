import type { ProcedureName, RecordedProcedure } from './contract.ts'
import { procedureGroups } from './procedure-groups.ts'
import { atLeast, type Role } from '../domain/roles.ts'
import { type TokenScope, tokenScopes } from '../domain/token-scopes.ts'

/** Facts of each procedure, for pages; they do not load the declarations. */
export const procedureFacts = Object.fromEntries(
  procedureGroups.flatMap((group) => group.names.map((name) => [name, group])),
) as Readonly<Record<ProcedureName, (typeof procedureGroups)[number]>>

/** Procedures that leave a `site.changed`. */
export const recordedProcedures = procedureGroups
  .filter(({ recorded }) => recorded)
  .flatMap(({ names }) => names as RecordedProcedure[])

/** Scopes within an account's role: one whose weakest procedure the role may call. A token stored with only a role has these. */
export function scopesOfRole(role: Role): TokenScope[] {
  const isWithin = (scope: TokenScope): boolean =>
    role === 'admin' || procedureGroups.some((group) => group.scope === scope && atLeast(role, group.role))
  return tokenScopes.filter(isWithin)
}

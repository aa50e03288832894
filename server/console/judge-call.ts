import { capabilityAccess } from '../../shared/console/capability-access.ts'
import { type ProcedureName, procedures } from '../../shared/console/contract.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import { atLeast, type Role } from '../../shared/domain/roles.ts'
import { accessOfCall } from '../../shared/console/call-access.ts'
import type { ProcedureAccess, SiteBefore } from '../../shared/console/procedure-access.ts'
import { passwordFreshMs } from '../access/accounts/account-sessions.ts'
import type { RevocationGuard } from '../capabilities/capability.ts'
import type { Freshness } from './callers.ts'
import type { CallOrigin } from './handlers.ts'

/** Facts of the site by which calls are judged. */
export interface CallFacts {
  site: () => SiteBefore
  fresh: Freshness
}

const freshMinutes = passwordFreshMs / 60_000

/** Judges a call before its input is read: by the caller's role and the token's scopes. @returns the refusal, if any */
export function refuseCaller(name: ProcedureName, origin: CallOrigin): Refusal | undefined {
  return refuse(name, procedures[name].access, origin)
}

/**
 * Judges a call by its input, too, and by how long ago the caller gave the password or the console key.
 * @param input as the procedure's schema makes it
 * @returns the refusal, if any
 */
export function refuseCall(
  name: ProcedureName,
  input: unknown,
  origin: CallOrigin,
  { site, fresh }: CallFacts,
): Refusal | undefined {
  const access = accessOfCall(name, input, site())
  const refused = refuse(name, access, origin)
  const { way, session = '' } = origin
  if (refused !== undefined || !access.freshSession || way === undefined || way === 'token') return refused
  if (fresh[way](session)) return undefined
  const needed = way === 'key_session' ? 'keyNeeded' : 'passwordNeeded'
  return refusal(needed, { procedure: name, minutes: freshMinutes })
}

/** Judges whether a caller may end capabilities of a kind. @throws RefusalError */
export function guardRevocation(name: ProcedureName, origin: CallOrigin): RevocationGuard {
  return (kind) => {
    const refused = refuse(name, capabilityAccess[kind], origin)
    if (refused !== undefined) throw new RefusalError(refused)
  }
}

/** Role with which texts are shown: who may not change cameras by their token sees of them what a viewer sees. */
export function roleOfSight({ role, way, scopes = [] }: CallOrigin): Role {
  return way === 'token' && !scopes.includes('devices:write') ? 'viewer' : role
}

function refuse(
  name: ProcedureName,
  { role, scope }: ProcedureAccess,
  { role: own, way, scopes = [] }: CallOrigin,
): Refusal | undefined {
  if (!atLeast(own, role)) return refusal('roleMissing', { procedure: name, role })
  if (way !== 'token' || scope === 'any') return undefined
  if (scope === 'none') return refusal('personNeeded', { procedure: name })
  if (scopes.includes(scope)) return undefined
  return refusal('scopeMissing', { procedure: name, scope })
}

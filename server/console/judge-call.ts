import type { ProcedureName } from '../../shared/console/contract.ts'
import type { ConsoleRefusal, RefusalValues } from '../../shared/console/procedure.ts'
import { atLeast, type Role } from '../../shared/console/role-names.ts'
import { accessOfCall, type ProcedureAccess, procedureAccess } from '../../shared/console/roles.ts'
import type { Settings } from '../../shared/settings.ts'
import { passwordFreshMs } from '../access/accounts/account-sessions.ts'
import type { CallOrigin } from './handlers.ts'

/** Facts of the site by which calls are judged. */
export interface CallFacts {
  settings: () => Settings
  /** Whether the password of an account's session was given within the last ten minutes. */
  isFresh: (session: string) => boolean
}

const freshMinutes = passwordFreshMs / 60_000

/** Judges a call before its input is read: by the caller's role and the token's scopes. @returns the refusal, if any */
export function refuseCaller(name: ProcedureName, origin: CallOrigin): ConsoleRefusal | undefined {
  return refuse(name, procedureAccess[name], origin)
}

/**
 * Judges a call by its input, too, and by how long ago the caller gave the password.
 * @param input as the procedure's schema makes it
 * @returns the refusal, if any
 */
export function refuseCall(
  name: ProcedureName,
  input: unknown,
  origin: CallOrigin,
  { settings, isFresh }: CallFacts,
): ConsoleRefusal | undefined {
  const access = accessOfCall(name, input, settings())
  const refused = refuse(name, access, origin)
  if (refused !== undefined || !access.person || origin.way !== 'password') return refused
  if (origin.session !== undefined && isFresh(origin.session)) return undefined
  const message = `${name} needs your password, given within the last ${freshMinutes} minutes: call account.confirm_password first.`
  return forbidden('passwordNeeded', message, { procedure: name, minutes: freshMinutes })
}

/** Role with which texts are shown: who may not change cameras by their token sees of them what a viewer sees. */
export function roleOfSight({ role, way, scopes = [] }: CallOrigin): Role {
  return way === 'token' && !scopes.includes('devices:write') ? 'viewer' : role
}

function refuse(
  name: ProcedureName,
  { role, scope }: ProcedureAccess,
  { role: own, way, scopes = [] }: CallOrigin,
): ConsoleRefusal | undefined {
  if (!atLeast(own, role)) {
    const message = `${name} needs the role ${role}${role === 'operator' ? ' or admin' : ''}.`
    return forbidden('roleMissing', message, { procedure: name, role })
  }
  if (way !== 'token' || scope === 'any') return undefined
  if (scope === 'none')
    return forbidden('personNeeded', `An access token cannot call ${name}: sign in with the password.`, {
      procedure: name,
    })
  if (scopes.includes(scope)) return undefined
  return forbidden('scopeMissing', `${name} needs an access token with the scope ${scope}.`, { procedure: name, scope })
}

function forbidden(name: string, message: string, values: RefusalValues): ConsoleRefusal {
  return { code: 'forbidden', message, name, values }
}

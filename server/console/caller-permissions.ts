import { accessOfCall } from '../../shared/console/call-access.ts'
import { capabilityAccess } from '../../shared/console/capability-access.ts'
import {
  type ConsoleEvent,
  type ProcedureName,
  type ProcedureOutput,
  procedures,
} from '../../shared/console/contract.ts'
import type { ProcedureAccess, SiteBefore } from '../../shared/console/procedure-access.ts'
import type { DeviceView } from '../../shared/domain/devices.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { atLeast, type Role } from '../../shared/domain/roles.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import { secretFreshMs } from '../../shared/tokens.ts'
import type { RevocationGuard } from '../capabilities/capability.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import type { Freshness } from './callers.ts'
import type { CallOrigin } from './handlers.ts'

/** State of the site on which the permission of a call depends. */
export interface CallFacts {
  site: () => SiteBefore
  fresh: Freshness
}

const freshMinutes = secretFreshMs / 60_000

/**
 * Checks the role of the caller and the scopes of the token, before the input of the call is read.
 * @returns the refusal, if any
 */
export function refuseCaller(name: ProcedureName, origin: CallOrigin): Refusal | undefined {
  return refuse(name, procedures[name].access, origin)
}

/**
 * Checks a call with its input, including how long ago the caller presented the password or the console key.
 * @param input the input after validation by the procedure's schema
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

/** Returns a guard that checks whether a caller may end capabilities of a kind. @throws RefusalError */
export function guardRevocation(name: ProcedureName, origin: CallOrigin): RevocationGuard {
  return (kind) => {
    const refused = refuse(name, capabilityAccess[kind], origin)
    if (refused !== undefined) throw new RefusalError(refused)
  }
}

/**
 * Returns the role for which outputs are filtered. A token without the scope `devices:write` receives the outputs of a
 * viewer.
 */
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

/**
 * Filters of outputs for viewers. The outputs have no secret fields, but callers may have entered secrets in free
 * texts.
 */
const forViewers: { readonly [N in ProcedureName]?: (output: ProcedureOutput<N>) => ProcedureOutput<N> } = {
  'devices.list': (views) => views.map(deviceForViewers),
}

/** Returns the output of a procedure as a caller of this role may see it. */
export function shownTo(role: Role, name: ProcedureName, output: unknown): unknown {
  if (atLeast(role, 'operator')) return output
  // A name known only at run time loses the type of its entry.
  const shown = forViewers[name] as ((output: unknown) => unknown) | undefined
  return shown === undefined ? output : shown(output)
}

/** Returns an event as a console of this role may see it. */
export function eventShownTo(role: Role, event: ConsoleEvent): ConsoleEvent {
  if (event.name !== 'devices.changed' || atLeast(role, 'operator')) return event
  return { ...event, payload: { ...event.payload, items: event.payload.items.map(deviceForViewers) } }
}

/**
 * Removes all texts that may contain a login: operators also enter logins of cameras in paths, queries and free texts.
 * Keeps only the plain part of each address.
 */
function deviceForViewers(view: DeviceView): DeviceView {
  const { assist_address: second } = view.options
  return {
    ...view,
    userAddress: shownAddress(view.userAddress),
    userData: '',
    options: typeof second === 'string' ? { assist_address: shownAddress(second) } : {},
  }
}

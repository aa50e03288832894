import type { ConsoleEvent, ProcedureName, ProcedureOutput } from '../../shared/console/contract.ts'
import { atLeast, type Role } from '../../shared/domain/roles.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import type { DeviceView } from '../../shared/domain/devices.ts'

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

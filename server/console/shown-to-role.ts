import type { ConsoleEvent, ProcedureName, ProcedureOutput } from '../../shared/console/contract.ts'
import { atLeast, type Role } from '../../shared/domain/roles.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import type { DeviceView } from '../../shared/domain/devices.ts'

/** Outputs of which somebody who only looks sees less. Secrets are in none of them: these are texts in which callers may have written one. */
const forViewers: { readonly [N in ProcedureName]?: (output: ProcedureOutput<N>) => ProcedureOutput<N> } = {
  'devices.list': (views) => views.map(deviceForViewers),
}

/** Output of a procedure as a caller of this role may see it. */
export function shownTo(role: Role, name: ProcedureName, output: unknown): unknown {
  if (atLeast(role, 'operator')) return output
  // The table is typed name by name; a name that is only known at run time needs it untyped once.
  const shown = forViewers[name] as ((output: unknown) => unknown) | undefined
  return shown === undefined ? output : shown(output)
}

/** An event, as a console of this role may see it. */
export function eventShownTo(role: Role, event: ConsoleEvent): ConsoleEvent {
  if (event.name !== 'devices.changed' || atLeast(role, 'operator')) return event
  return { ...event, payload: { ...event.payload, items: event.payload.items.map(deviceForViewers) } }
}

/** Cameras take logins in path, query and free texts, too: of the address what is plain, of the rest nothing. */
function deviceForViewers(view: DeviceView): DeviceView {
  const { assist_address: second } = view.options
  return {
    ...view,
    userAddress: shownAddress(view.userAddress),
    userData: '',
    options: typeof second === 'string' ? { assist_address: shownAddress(second) } : {},
  }
}

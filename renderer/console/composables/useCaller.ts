import { computed } from 'vue'
import type { ProcedureName } from '../../../shared/console/contract.ts'
import { procedureFacts } from '../../../shared/console/procedure-facts.ts'
import { atLeast, type Role } from '../../../shared/domain/roles.ts'
import { sharedState } from './useConsole.ts'
import { useControllers, useSettings } from './site.ts'
import { useReading } from '../live/useReading.ts'
import { pageRole } from '../pages.ts'

/** Account of this console, and its rights. They only hide forbidden actions: the controller checks every call. */
export const useCaller = sharedState(() => {
  // An admin may change the account's name; a new role ends the session.
  const { value: caller } = useReading('account.me')
  const { standby } = useControllers()
  const role = computed<Role>(() => caller.value?.role ?? 'viewer')
  const is = (needed: Role): boolean => caller.value !== undefined && atLeast(role.value, needed)
  return {
    /** The account; undefined: unknown. */
    caller,
    role,
    /**
     * Returns whether this caller may call a procedure; false until known. A replica forwards only reads and a change
     * of the leader.
     */
    may: (procedure: ProcedureName): boolean =>
      caller.value !== undefined &&
      atLeast(role.value, procedureFacts[procedure].role) &&
      (!standby.value || procedureFacts[procedure].passedOn),
    /** Returns whether this caller has a role or a higher one. */
    is,
    /** Returns whether this caller may open the page of a path. Links to other pages are hidden. */
    opens: (path: string): boolean => is(pageRole(path)),
  }
})

/**
 * Returns whether this caller may watch a stream unseen: cameras always; people for operators, or if the settings allow
 * it. The controller checks every call anyway.
 */
export function useMayWatch(): (isCamera: boolean) => boolean {
  const { is } = useCaller()
  const { value: settings } = useSettings()
  return (isCamera) => isCamera || is('operator') || settings.value?.console.viewers_watch === true
}

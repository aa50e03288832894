import { computed } from 'vue'
import type { ProcedureName } from '../../../shared/console/contract.ts'
import { atLeast, type Role } from '../../../shared/console/role-names.ts'
import { readsOnly } from '../../../shared/console/reads.ts'
import { procedureAccess } from '../../../shared/console/roles.ts'
import { sharedState } from './useConsole.ts'
import { useControllers } from './useControllers.ts'
import { useLive } from '../../kit/composables/useLive.ts'

/** Account of this console, and its rights. The controller judges every call anyway: this hides what it would refuse. */
export const useCaller = sharedState((client) => {
  const { value: caller, refresh } = useLive(client, () => client.call('account.me'))
  // A name that was changed by an admin; a new role ends the session.
  client.on('accounts.changed', () => void refresh())
  const { standby } = useControllers()
  const role = computed<Role>(() => caller.value?.role ?? 'viewer')
  return {
    /** Undefined until it is known. */
    caller,
    role,
    /** Whether the controller would do it for this caller; false until it is known who that is. One that stands by changes nothing, but hands a change of leader on. */
    may: (procedure: ProcedureName): boolean =>
      caller.value !== undefined &&
      atLeast(role.value, procedureAccess[procedure].role) &&
      (!standby.value || readsOnly[procedure] || procedure === 'controllers.lead'),
    /** Whether this caller is of a role or more. */
    is: (needed: Role): boolean => caller.value !== undefined && atLeast(role.value, needed),
  }
})

import { onScopeDispose } from 'vue'
import type { EventPayload } from '../../../shared/console/contract.ts'
import type { EventName } from '../../../shared/console/event-names.ts'
import { useConsole } from '../composables/useConsole.ts'

/** Calls a listener for each event of this name, until the scope ends. */
export function useEvent<N extends EventName>(name: N, listener: (payload: EventPayload<N>) => void): void {
  onScopeDispose(useConsole().on(name, listener))
}

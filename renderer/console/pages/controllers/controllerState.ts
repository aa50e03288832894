import type { ControllerView } from '../../../../shared/console/controllers.ts'

/** State of a controller: a missing one has no role. */
export function stateOf({ gone, role }: ControllerView): 'gone' | 'leader' | 'standby' {
  return gone ? 'gone' : role
}

export const stateTone = { leader: 'ok', standby: 'idle', gone: 'bad' } as const

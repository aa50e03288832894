import type { ControllerView } from '../../../../shared/console/controllers.ts'

/** Returns the state of a controller; a missing controller has no role. */
export function stateOf({ gone, role }: ControllerView): 'gone' | 'leader' | 'standby' {
  return gone ? 'gone' : role
}

export const stateTone = { leader: 'ok', standby: 'idle', gone: 'bad' } as const

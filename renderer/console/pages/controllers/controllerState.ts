import type { ControllerView } from '../../../../shared/console/controllers.ts'

/** How a controller is, in one word: one that is gone has no role any more. */
export function stateOf({ gone, role }: ControllerView): 'gone' | 'leader' | 'standby' {
  return gone ? 'gone' : role
}

export const stateTone = { leader: 'ok', standby: 'idle', gone: 'bad' } as const

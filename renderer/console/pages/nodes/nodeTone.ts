import type { NodeState } from '../../../../shared/node.ts'

export const nodeTone: Readonly<Record<NodeState, 'ok' | 'warn' | 'bad' | 'idle' | 'busy'>> = {
  online: 'ok',
  offline: 'bad',
  draining: 'warn',
  disabled: 'idle',
  connecting: 'busy',
}

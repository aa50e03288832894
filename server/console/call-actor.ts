import type { EventActor } from '../../shared/console/events.ts'
import type { CallOrigin } from './handlers.ts'

/** Actor of a procedure call. */
export function actorOf({ transport, client, account = '' }: CallOrigin): EventActor {
  if (transport === 'internal') return { type: 'system', name: '', address: '' }
  const key = transport === 'ipc' ? 'desktop' : 'console key'
  return { type: 'operator', name: account === '' ? key : account, address: client }
}

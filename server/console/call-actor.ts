import type { EventActor } from '../../shared/console/event-actor.ts'
import type { CapabilityMaker } from '../store/capability-record.ts'
import type { CallOrigin } from './handlers.ts'

/** Actor of a procedure call. */
export function actorOf({ transport, client, account = '' }: CallOrigin): EventActor {
  if (transport === 'internal') return { type: 'system', name: '', address: '' }
  const key = transport === 'ipc' ? 'desktop' : 'console key'
  return { type: 'operator', name: account === '' ? key : account, address: client }
}

/** Maker of what a procedure call makes. */
export function makerOf({ way, accountId, tokenId }: CallOrigin): CapabilityMaker {
  if (way === undefined) return { type: 'site' }
  if (accountId === undefined) return { type: 'key' }
  return { type: 'account', account: accountId, ...(tokenId !== undefined && { token: tokenId }) }
}

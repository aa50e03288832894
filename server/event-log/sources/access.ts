import type { EventActor } from '../../../shared/domain/event-actor.ts'
import type { EventSink } from '../event-log.ts'
import { LRUCache } from 'lru-cache'
import { addressShare } from '../../../shared/client-address.ts'
import { growingTo } from '../../../shared/growing-cache.ts'
import type { Capability } from '../../capabilities/capability.ts'
import type { CapabilityMaker } from '../../store/capability-record.ts'
import type { Store } from '../../store/store.ts'

/**
 * Returns a recorder of sign-ins to the console, and of attempts with a wrong key or password; `account` is empty for
 * the console key.
 */
export function recordSignIns(sink: EventSink): {
  accepted(client: string, account: string): void
  refused(client: string, blocked: boolean, account: string): void
} {
  const subject = { type: 'site', id: '', name: '' } as const
  const actor = (name: string, address: string): EventActor => ({ type: 'operator', name, address })
  return {
    accepted: (client, account) =>
      sink.append({ kind: 'signIn.accepted', subject, actor: actor(account || 'console key', client) }),
    refused: (client, blocked, account) =>
      sink.append({
        kind: 'signIn.refused',
        level: 'warning',
        subject,
        actor: { type: 'client', name: '', address: client },
        params: account === '' ? { blocked } : { blocked, account },
      }),
  }
}

/** Time after which a further use of a link by the same address is logged, in milliseconds. */
const togetherMs = 10 * 60_000
/** Maximum number of remembered pairs of capability and address. */
const maxRemembered = 10_000

/**
 * Returns a recorder of the use of links. It logs each link and address once per period, because a player requests a
 * segment every second.
 */
export function recordHolders(
  store: Pick<Store, 'get'>,
  sink: EventSink,
): (capability: Capability, client: string) => void {
  const recent = new LRUCache<string, true>({ ...growingTo(maxRemembered), ttl: togetherMs })
  return (capability, client) => {
    const { id, kind, maker, room_id: room, user_id } = capability
    const key = `${id} ${addressShare(client)}`
    if (recent.has(key)) return
    recent.set(key, true)
    sink.append({
      kind: 'link.used',
      actor: { type: 'holder', name: '', address: client },
      subject: { type: 'room', id: room, name: store.get('rooms', room)?.topic ?? '' },
      room,
      params: {
        link: kind,
        user: store.get('devices', user_id)?.userName ?? user_id,
        made_by: nameOf(store, maker),
        capability: id,
      },
    })
  }
}

/** Returns the name of a maker for display: account, access_key, or kind of proof. */
function nameOf(store: Pick<Store, 'get'>, maker: CapabilityMaker): string {
  if (maker.type === 'credential') return maker.access_key
  if (maker.type === 'account') return store.get('accounts', maker.account)?.name ?? ''
  return maker.type === 'key' ? 'console key' : 'desktop'
}

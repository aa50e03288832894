import type { CapabilityView } from '../../shared/console/capabilities.ts'
import type { Capabilities } from '../capabilities/capabilities.ts'
import type { ListedCapability } from '../capabilities/capability.ts'
import type { CapabilityMaker } from '../store/capability-record.ts'
import type { Store } from '../store/store.ts'
import type { ProcedureHandlers, ProceduresOf } from './handlers.ts'
import { guardRevocation } from './caller-permissions.ts'

/** Procedures on capabilities. A capability grants access to everyone who has its URL. */
export function capabilityHandlers(
  capabilities: Pick<Capabilities, 'list' | 'revoke'>,
  store: Pick<Store, 'get'>,
): ProcedureHandlers<ProceduresOf<'capabilities'>> {
  const makerOf = (
    wanted: { type: CapabilityView['maker']['type']; id: string } | undefined,
  ): CapabilityMaker | undefined => {
    if (wanted === undefined) return undefined
    const { type, id } = wanted
    if (type === 'account') return { type, account: id }
    if (type === 'token') return { type: 'account', account: store.get('access_tokens', id)?.account ?? '', token: id }
    return type === 'credential' ? { type, access_key: id } : { type }
  }
  return {
    'capabilities.list': ({ room_id: roomId, maker, offset, limit }) => {
      const found = capabilities.list({ roomId, maker: makerOf(maker) })
      return { total: found.length, items: found.slice(offset, offset + limit).map((each) => viewOf(each, store)) }
    },
    'capabilities.revoke': async ({ ids }, origin) => ({
      revoked: await capabilities.revoke(ids, guardRevocation('capabilities.revoke', origin)),
    }),
    'capabilities.revoke_all': async ({ room_id: roomId, maker }, origin) => ({
      revoked: await capabilities.revoke(
        { roomId, maker: makerOf(maker) },
        guardRevocation('capabilities.revoke_all', origin),
      ),
    }),
  }
}

function viewOf(capability: ListedCapability, store: Pick<Store, 'get'>): CapabilityView {
  const { id, kind, maker, room_id, user_id, created_at, expires_at, last_used_at } = capability
  return {
    ...{ id, kind, maker: makerView(maker, store), room_id, user_id, created_at, expires_at, last_used_at },
    topic: store.get('rooms', room_id)?.topic ?? '',
    user_name: (kind === 'join' ? capability.name : store.get('devices', user_id)?.userName) ?? '',
    detail: detailOf(capability),
  }
}

function detailOf(capability: ListedCapability): string {
  if (capability.kind === 'push') return capability.target
  return capability.kind === 'join' && capability.standing === 'host' ? 'host' : ''
}

function makerView(maker: CapabilityMaker, store: Pick<Store, 'get'>): CapabilityView['maker'] {
  if (maker.type === 'credential') {
    const { access_key: id } = maker
    return { type: 'credential', id, name: store.get('credentials', id)?.label ?? '' }
  }
  if (maker.type !== 'account') return { type: maker.type, id: '', name: '' }
  const name = store.get('accounts', maker.account)?.name ?? ''
  if (maker.token === undefined) return { type: 'account', id: maker.account, name }
  const label = store.get('access_tokens', maker.token)?.label ?? ''
  return { type: 'token', id: maker.token, name: `${name} (${label})` }
}

import { atLeast } from '../../shared/domain/roles.ts'
import { isExpired, tokenKinds } from '../../shared/tokens.ts'
import type { CapabilityMaker, StoredCapability } from './capability-record.ts'
import type { Store } from './store.ts'

/** Reads stored records, or the records after a planned change. */
export type RecordReader = Pick<Store, 'get'>

/** Whether the maker of a capability exists, is enabled, and still has the required role. */
export function isMakerEnabled(
  store: RecordReader,
  { maker, role, generation }: Pick<StoredCapability, 'maker' | 'role' | 'generation'>,
): boolean {
  switch (maker.type) {
    case 'site':
      return true
    case 'key':
      return store.get('settings', 'site')?.console?.key_sign_in !== false
    case 'credential': {
      const credential = store.get('credentials', maker.access_key)
      return credential?.enabled === true && credential.generation === generation
    }
    case 'account': {
      const account = store.get('accounts', maker.account)
      if (account?.enabled !== true || !atLeast(account.role, role)) return false
      return maker.token === undefined || store.get('access_tokens', maker.token)?.account === maker.account
    }
  }
}

/**
 * Returns the expiry of the access token that the maker used, in milliseconds since the epoch; Infinity: no access
 * token. Capabilities expire together with the token with which they were made.
 */
export function endOfMaker(store: RecordReader, maker: CapabilityMaker): number {
  const token = maker.type === 'account' ? maker.token : undefined
  const expiresAt = token === undefined ? undefined : store.get('access_tokens', token)?.expires_at
  return expiresAt ?? Number.POSITIVE_INFINITY
}

/** Whether the content of a capability exists. */
export function isContentThere(store: RecordReader, capability: StoredCapability): boolean {
  switch (capability.kind) {
    case 'live-link':
    case 'join':
      return store.get('rooms', capability.room_id) !== undefined
    case 'live':
    case 'push':
      return (
        store.get('lives', capability.live)?.state === 'living' && store.get('rooms', capability.room_id) !== undefined
      )
    case 'recording':
      return store.get('recordings', capability.recording) !== undefined
    // Recordings outlive their room. The deletion of a room ends its recorded links: see `consequencesOf`.
    case 'recorded-link':
    case 'export':
      return true
  }
}

/** Whether a capability was revoked or has expired. @param now milliseconds since the epoch */
export function isOver(capability: StoredCapability, now: number): boolean {
  return (
    isExpired(capability.kind, capability, now) || (capability.kind === 'join' && capability.ended_at !== undefined)
  )
}

/**
 * Returns the record that replaces a revoked capability; undefined: the capability is deleted. Nodes admit participants
 * by signed tokens, so they need the list of revoked links until the tokens expire.
 */
export function afterRevocation(capability: StoredCapability, now: number): StoredCapability | undefined {
  if (capability.kind !== 'join') return undefined
  const ended_at = capability.ended_at ?? now
  // All signed tokens of a link without expiry are tokens of the room page.
  const { pageMs } = tokenKinds['join-token'].lifetime
  return { ...capability, ended_at, expires_at: capability.expires_at || ended_at + pageMs }
}

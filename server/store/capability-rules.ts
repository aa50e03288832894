import { atLeast } from '../../shared/domain/roles.ts'
import type { CapabilityMaker, StoredCapability } from './capability-record.ts'
import type { Store } from './store.ts'

/** Lifetime of the signed token that a short link gives to the room page, at most, in milliseconds. An opened page gets another one by the short link. */
export const pageTokenMs = 24 * 60 * 60_000

/** Reads records, as they are or as they will be after a change. */
export type RecordReader = Pick<Store, 'get'>

/** Whether the maker of a capability may still make one like it. */
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

/** Returns when an access token expires, with all that it makes, in milliseconds since the epoch; Infinity for every other maker. */
export function endOfMaker(store: RecordReader, maker: CapabilityMaker): number {
  const token = maker.type === 'account' ? maker.token : undefined
  const expiresAt = token === undefined ? undefined : store.get('access_tokens', token)?.expires_at
  return expiresAt ?? Number.POSITIVE_INFINITY
}

/** Whether the content that a capability opens exists. */
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
    // A recorded span outlives its room. A link to one ends with the deletion of the room.
    case 'recorded-link':
    case 'export':
      return true
  }
}

/** Whether a capability has expired; false for none. @param now milliseconds since the epoch */
export function hasExpired(capability: StoredCapability | undefined, now: number): boolean {
  return capability !== undefined && capability.expires_at !== 0 && capability.expires_at <= now
}

/** Whether a capability was revoked or has expired. @param now milliseconds since the epoch */
export function isOver(capability: StoredCapability, now: number): boolean {
  return hasExpired(capability, now) || (capability.kind === 'join' && capability.ended_at !== undefined)
}

/** Record of a revoked capability; undefined: it is deleted. Nodes admit people by signed links, so they need to know which ones are void until those expire. */
export function afterRevocation(capability: StoredCapability, now: number): StoredCapability | undefined {
  if (capability.kind !== 'join') return undefined
  const ended_at = capability.ended_at ?? now
  // A link without an end has signed tokens of the room page only.
  return { ...capability, ended_at, expires_at: capability.expires_at || ended_at + pageTokenMs }
}

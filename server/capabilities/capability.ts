import type {
  StoredCapabilityKind,
  CapabilityMaker,
  CapabilityOf,
  StoredCapability,
} from '../store/capability-record.ts'

declare const opened: unique symbol

/** Proof that a token gives access now. Created only by `Capabilities.open`, which checks the token. */
export type Capability<K extends StoredCapabilityKind = StoredCapabilityKind> = CapabilityOf<K> & {
  readonly id: string
  readonly [opened]: true
}

type Without<T, F extends string> = T extends unknown ? Omit<T, F> : never

/** Requested capability; `expires_at` 0: the capability ends with its content. */
export type CapabilityDraft = Without<StoredCapability, 'maker' | 'generation' | 'role' | 'created_at'>

/** A new capability with its token, which is not stored. */
export interface NewCapability {
  id: string
  token: string
  record: StoredCapability
}

/** Checks whether the caller may end a capability of this kind. @throws RefusalError to refuse */
export type RevocationGuard = (kind: StoredCapabilityKind) => void

/** Guard for the program's own revocations, which are part of an operation that was already checked. */
export const ofProgram: RevocationGuard = () => {}

/** Selects capabilities; absent fields match everything. */
export interface CapabilityFilter {
  roomId?: string | undefined
  maker?: CapabilityMaker | undefined
}

export type ListedCapability = StoredCapability & {
  id: string
  /** Time of the last use, in milliseconds since the epoch; 0: never. */
  last_used_at: number
}

/** Whether `maker` matches `wanted`. A wanted account without a token also matches all tokens of the account. */
export function isMadeBy(maker: CapabilityMaker, wanted: CapabilityMaker): boolean {
  if (maker.type === 'account' && wanted.type === 'account')
    return maker.account === wanted.account && (wanted.token === undefined || maker.token === wanted.token)
  if (maker.type === 'credential' && wanted.type === 'credential') return maker.access_key === wanted.access_key
  return maker.type === wanted.type
}

/** Returns the access_key of the client that created something; empty: an operator. */
export function clientOf(maker: CapabilityMaker): string {
  return maker.type === 'credential' ? maker.access_key : ''
}

/** Returns the maker of something stored by an earlier version. @param client access_key; empty: an operator */
export function makerOfClient(client: string): CapabilityMaker {
  return client === '' ? { type: 'site' } : { type: 'credential', access_key: client }
}

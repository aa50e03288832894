import type { CapabilityKind, CapabilityMaker, CapabilityOf, StoredCapability } from '../store/capability-record.ts'

declare const opened: unique symbol

/** Proof that a token opens something now. Made only by `Capabilities.open`, which checks it. */
export type Capability<K extends CapabilityKind = CapabilityKind> = CapabilityOf<K> & {
  readonly id: string
  readonly [opened]: true
}

type Without<T, F extends string> = T extends unknown ? Omit<T, F> : never

/** Capability that somebody asks for; `expires_at` 0: it ends with what it opens. */
export type CapabilityDraft = Without<StoredCapability, 'maker' | 'generation' | 'role' | 'created_at'>

/** A new capability, with the token that opens it: the token is not stored. */
export interface NewCapability {
  id: string
  token: string
  record: StoredCapability
}

/**
 * Decides whether the caller may end a capability of this kind.
 * @throws RefusalError to refuse
 */
export type RevocationGuard = (kind: CapabilityKind) => void

/** Guard of the program's own revocations, which belong to an operation that was judged before. */
export const ofProgram: RevocationGuard = () => {}

/** Selects capabilities; fields that are left out do not filter. */
export interface CapabilityFilter {
  roomId?: string | undefined
  maker?: CapabilityMaker | undefined
}

/** A capability in force, for the console. */
export type ListedCapability = StoredCapability & {
  id: string
  /** Milliseconds since the epoch; 0: never. */
  last_used_at: number
}

/** Whether a capability was made by this maker; that of an account without a token matches all of its tokens, too. */
export function isMadeBy(maker: CapabilityMaker, wanted: CapabilityMaker): boolean {
  if (maker.type === 'account' && wanted.type === 'account')
    return maker.account === wanted.account && (wanted.token === undefined || maker.token === wanted.token)
  if (maker.type === 'credential' && wanted.type === 'credential') return maker.access_key === wanted.access_key
  return maker.type === wanted.type
}

/** access_key of the client that made something; empty: an operator. */
export function clientOf(maker: CapabilityMaker): string {
  return maker.type === 'credential' ? maker.access_key : ''
}

/** Maker of something that an earlier version stored. @param client access_key; empty: an operator */
export function makerOfClient(client: string): CapabilityMaker {
  return client === '' ? { type: 'site' } : { type: 'credential', access_key: client }
}

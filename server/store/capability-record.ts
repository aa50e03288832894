import type { Role } from '../../shared/domain/roles.ts'
import type { StreamSource } from '../../shared/media/stream-source.ts'

/**
 * Maker of a capability. The capability ends with its maker. `key`: the console key. `site`: the window of the desktop
 * app, or a host in a meeting.
 */
export type CapabilityMaker =
  /** `token`: key of the access token that was used; left out: a session was used. */
  | { type: 'account'; account: string; token?: string }
  | { type: 'credential'; access_key: string }
  | { type: 'key' }
  | { type: 'site' }

interface CapabilityFields {
  maker: CapabilityMaker
  /**
   * Generation of the credential when the capability was created; left out: the first. The capability ends when the
   * credential gets a higher generation.
   */
  generation?: number
  /** Minimum role of the maker's account: with a lower role, the capability ends. */
  role: Role
  room_id: string
  /** Id of a user in the room; empty: the whole room. */
  user_id: string
  created_at: number
  /** Expiry, in milliseconds since the epoch; 0: the capability ends with its content. */
  expires_at: number
}

/** Content that a capability opens. */
type CapabilityScope =
  /** Link to a stream while it is live. */
  | { kind: 'live-link'; source: StreamSource }
  | { kind: 'recorded-link'; source: StreamSource; from: number; to: number }
  /** Live stream of a client, with its page. */
  | { kind: 'live'; live: string }
  /** Live stream that is sent to an RTMP server. `target`: address of the server, without path and login. */
  | { kind: 'push'; live: string; target: string }
  /** Recording of a client, and the addresses of its files. */
  | { kind: 'recording'; recording: string }
  /** Export of recordings, for the account that made it. */
  | { kind: 'export' }
  /**
   * Link to join a room. `link`: id in its signed tokens. Nodes check these tokens on their own, so a revoked link
   * stays stored, with `ended_at`, until its tokens have expired.
   * `name`: name of the only person who may use the link. `code_sealed`: code of the short address, kept so that the
   * address can be shown again.
   */
  | {
      kind: 'join'
      link: string
      standing: 'member' | 'host'
      name?: string
      code_sealed?: string
      ended_at?: number
    }

/** Permission to open media or a room. It is stored, checked at each use, and ends with its maker. */
export type StoredCapability = CapabilityFields & CapabilityScope
export type StoredCapabilityKind = StoredCapability['kind']
export type CapabilityOf<K extends StoredCapabilityKind> = Extract<StoredCapability, { kind: K }>

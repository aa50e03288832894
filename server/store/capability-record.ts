import type { Role } from '../../shared/domain/roles.ts'
import type { StreamSource } from '../../shared/media/stream-source.ts'

/** Maker of a capability, with which it ends. `key`: the console key. `site`: the desktop's own window, or a host in a meeting. */
export type CapabilityMaker =
  /** `token`: key of the access token that was used; left out: a session. */
  | { type: 'account'; account: string; token?: string }
  | { type: 'credential'; access_key: string }
  | { type: 'key' }
  | { type: 'site' }

interface CapabilityFields {
  maker: CapabilityMaker
  /** Generation of a credential that made it; left out: the first. A higher one of the credential ends it. */
  generation?: number
  /** Least role that its maker's account needs. */
  role: Role
  room_id: string
  /** Empty: the whole room. */
  user_id: string
  created_at: number
  /** 0: it ends with what it opens. */
  expires_at: number
}

/** Content that a capability opens. */
type CapabilityScope =
  /** Link to a stream while it is live. */
  | { kind: 'live-link'; source: StreamSource }
  /** Link to a recorded span. */
  | { kind: 'recorded-link'; source: StreamSource; from: number; to: number }
  /** Live stream of a client with its page; `push`: it is sent to an RTMP server, too. */
  | { kind: 'live'; live: string }
  /** `target`: the server, without path and login. */
  | { kind: 'push'; live: string; target: string }
  /** Recording of a client, and the addresses of its files. */
  | { kind: 'recording'; recording: string }
  /** Export of recordings, for the account that made it. */
  | { kind: 'export' }
  /**
   * Link with which people join. `link`: id in its signed tokens, which nodes check by themselves: a revoked link stays stored, with the time of its end, until they have expired.
   * `name`: of its only holder. `code_sealed`: code of its short address, to show it again.
   */
  | {
      kind: 'join'
      link: string
      standing: 'member' | 'host'
      name?: string
      code_sealed?: string
      ended_at?: number
    }

/** Something that opens media or a room to its holder. It is stored, checked at each use, and ends with its maker. */
export type StoredCapability = CapabilityFields & CapabilityScope
export type CapabilityKind = StoredCapability['kind']
export type CapabilityOf<K extends CapabilityKind> = Extract<StoredCapability, { kind: K }>

import type { FaultRule } from '../../../shared/console/lab.ts'
import type { ClientCheckId } from '../../../shared/domain/client-checks.ts'
import type { Source } from '../conformance/verdict.ts'
import type { WatchedCall } from './watched-call.ts'

/** Site of a watched client. */
export interface WatchedSite {
  isRoom: (roomId: string) => boolean
  /** Whether a text is the secret key of the client. */
  isSecret: (text: string) => boolean
}

/**
 * Judges the calls of a client in their order of completion: true if a call follows the rule, false if it breaks the
 * rule, undefined if the rule does not apply. Its state must be bounded.
 */
export type Judge = (call: WatchedCall) => boolean | undefined

/** A rule for clients. */
export interface ClientCheck {
  id: ClientCheckId
  source: Source
  /** Fault rule of the lab that provokes the case; undefined: the client needs no fault for it. */
  fault?: Pick<FaultRule, 'operation'> & Partial<Pick<FaultRule, 'ret' | 'delay_ms' | 'drop'>>
  start: (site: WatchedSite) => Judge
}

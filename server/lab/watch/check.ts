import { LRUCache } from 'lru-cache'
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

/** Number of refusals of the same call, one after the other without a pause, that break a rule. */
const maxRefusals = 3
/** Maximum number of refused calls that are kept. */
const maxKept = 64

/**
 * Returns a judge of repetitions of refused calls. A client breaks the rule if it sends the same call for the third
 * time without a pause. It follows the rule with the next other call, or after a pause.
 * @param isRefused whether a call was refused in the way that the rule is about
 * @param pauseMs minimum time between a refusal and the next attempt, in milliseconds
 */
export function judgeRepetitions(isRefused: (call: WatchedCall) => boolean, pauseMs = 1_000): Judge {
  const refusals = new LRUCache<string, { count: number; endedAt: number }>({ max: maxKept })
  /** Refused call that was not judged yet. */
  let open: string | undefined
  return (call) => {
    if (!isRefused(call)) {
      if (open === undefined) return undefined
      open = undefined
      return true
    }
    const { signature, arrivedAt, endedAt } = call
    const before = refusals.get(signature)
    const hasPaused = before === undefined || arrivedAt - before.endedAt >= pauseMs
    const count = hasPaused ? 1 : before.count + 1
    refusals.set(signature, { count, endedAt })
    if (count >= maxRefusals) {
      open = undefined
      return false
    }
    const isOther = open !== undefined && open !== signature
    open = signature
    return isOther || (hasPaused && before !== undefined) ? true : undefined
  }
}

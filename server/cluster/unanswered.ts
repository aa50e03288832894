import { onAbort } from '../../shared/abort.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { ListenerName } from '../http/listeners.ts'
import { startTimer, type Timer } from '../store/system/time.ts'
import { clusterTimes } from '../store/election/timings.ts'
import type { LeaderResolver, LeaderTarget } from './leader-resolver.ts'

export interface Unanswered {
  resolver: LeaderResolver
  listener: ListenerName
  target: LeaderTarget
  /** Called when the port is unreachable, so that no answer can arrive. */
  cut: () => void
}

/**
 * Checks periodically that the leader is reachable, while an answer is outstanding.
 * @returns a function that stops the checks
 */
export function watchUnanswered({ resolver, listener, target, cut }: Unanswered): () => void {
  let timer: Timer
  const again = (): void => {
    timer = startTimer(
      clusterTimes.doubt,
      () => {
        mustNotFail(resolver.doubt(listener, target))
        again()
      },
      false,
    )
  }
  again()
  const unregister = onAbort(target.cut, cut)
  return () => {
    timer.cancel()
    unregister()
  }
}

import { onAbort } from '../../shared/abort.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { ListenerName } from '../http/listeners.ts'
import { startTimer, type Timer } from '../store/system/time.ts'
import { clusterTimes } from '../store/election/timings.ts'
import type { LeaderResolver, LeaderTarget } from './leader-resolver.ts'

/** A request to the leader that has no answer yet. */
export interface Unanswered {
  way: LeaderResolver
  listener: ListenerName
  target: LeaderTarget
  /** Called when no answer can come any more: the port cannot be reached. */
  cut: () => void
}

/** While an answer is owed, finds out again and again whether the leader can still be reached. @returns ends it */
export function watchUnanswered({ way, listener, target, cut }: Unanswered): () => void {
  let timer: Timer
  const again = (): void => {
    timer = startTimer(
      clusterTimes.doubt,
      () => {
        mustNotFail(way.doubt(listener, target))
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

import type { ChangeCause } from '../change-cause.ts'
import type { Change } from '../store.ts'
import { capabilityConsequences } from './capability-consequences.ts'
import { type ChangedState, StateAfter } from './state-after.ts'

/**
 * Further changes that belong to those of a transaction: capabilities that end with them, and the events of the call that makes them.
 * @param now milliseconds since the epoch
 */
export function consequencesOf(
  state: ChangedState,
  wanted: readonly Change[],
  cause: ChangeCause | undefined,
  now: number,
): Change[] {
  const ended = capabilityConsequences(state, wanted, now)
  if (cause === undefined || wanted.length === 0) return ended
  const changes = ended.length === 0 ? wanted : [...wanted, ...ended]
  const [before, after] = [new StateAfter(state, []), new StateAfter(state, changes)]
  return [...ended, ...cause.eventsOf({ changes, before, after })]
}

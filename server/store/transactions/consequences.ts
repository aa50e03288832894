import type { ChangeCause } from '../change-cause.ts'
import type { Change } from '../store.ts'
import { capabilityConsequences } from './capability-consequences.ts'
import { type ChangedState, StateAfter } from './state-after.ts'

/**
 * Further changes that belong to those of a transaction: capabilities that end with them, and the events of the call that makes them.
 * @param now milliseconds since the epoch
 * @throws what the check of the call throws, to refuse the transaction
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
  const planned = { changes, before: new StateAfter(state, []), after: new StateAfter(state, changes) }
  cause.check?.(planned)
  return [...ended, ...cause.eventsOf(planned)]
}

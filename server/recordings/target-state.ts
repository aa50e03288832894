import type { RecordingState } from '../../shared/recordings/recording-state.ts'
import type { RecordingHindrance } from '../../shared/domain/recordings.ts'

/** States that the controller distinguishes. */
type TargetState = Extract<RecordingState, 'recording' | 'pending' | 'noLease' | RecordingHindrance>

/** Conditions under which this controller orders recordings at all. */
export interface SiteFacts {
  /** Reason why the site cannot record anything; undefined: the site can record. */
  blocked: Extract<RecordingHindrance, 'off' | 'storageLow'> | undefined
  /** Whether this controller holds the lease. Otherwise, another controller may be recording the same streams. */
  isLeader: boolean
}

/** Conditions that determine the state of a target. */
export interface TargetFacts extends SiteFacts {
  /** Whether media of the target is being written. */
  isWriting: boolean
  /** Whether the node of the room can record. */
  canRecord: boolean
  /** Whether the camera or person is in the room; for a whole room, whether the room has any participant. */
  isThere: boolean
}

/** States with their conditions, in order of precedence. */
const states: readonly (readonly [TargetState, (facts: TargetFacts) => boolean])[] = [
  ['recording', ({ isWriting }) => isWriting],
  ['node', ({ canRecord }) => !canRecord],
  ['off', ({ blocked }) => blocked === 'off'],
  ['storageLow', ({ blocked }) => blocked === 'storageLow'],
  ['away', ({ isThere }) => !isThere],
  ['noLease', ({ isLeader }) => !isLeader],
]

/**
 * Reason that the console shows for each state; null: none. `pending` ends on its own; without the lease, the leader
 * shows the state.
 */
const shown: Record<TargetState, RecordingHindrance | null> = {
  ...{ recording: null, pending: null, noLease: null },
  ...{ node: 'node', off: 'off', storageLow: 'storageLow', away: 'away' },
}

/** Returns the state of a target that should be recorded. */
export function targetState(facts: TargetFacts): TargetState {
  return states.find(([, holds]) => holds(facts))?.[0] ?? 'pending'
}

/** Returns why a target is not recorded, as the console shows it; null: it shows no reason. */
export function hindranceOf(state: TargetState): RecordingHindrance | null {
  return shown[state]
}

/** Whether nodes receive orders with targets. If not, the orders are empty. */
export function mayOrder({ blocked, isLeader }: SiteFacts): boolean {
  return isLeader && blocked === undefined
}

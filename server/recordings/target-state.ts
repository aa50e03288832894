import type { RecordingState } from '../../shared/recordings/recording-state.ts'
import type { RecordingHindrance } from '../../shared/domain/recordings.ts'

/** States that the controller tells apart. */
type TargetState = Extract<RecordingState, 'recording' | 'pending' | 'noLease' | RecordingHindrance>

/** Facts that decide whether this controller orders recordings at all. */
export interface SiteFacts {
  /** Why nothing can be recorded at the site; undefined: it can. */
  blocked: Extract<RecordingHindrance, 'off' | 'storageLow'> | undefined
  /** Without the lease another controller may record the same streams. */
  isLeader: boolean
}

/** Facts that decide the state of a target. */
export interface TargetFacts extends SiteFacts {
  /** Media of the target is being written. */
  isWriting: boolean
  /** The node of the room can record. */
  canRecord: boolean
  /** The camera or person is in the room; of a whole room: anybody is. */
  isThere: boolean
}

/** States with what makes them true; the first that holds counts. */
const states: readonly (readonly [TargetState, (facts: TargetFacts) => boolean])[] = [
  ['recording', ({ isWriting }) => isWriting],
  ['node', ({ canRecord }) => !canRecord],
  ['off', ({ blocked }) => blocked === 'off'],
  ['storageLow', ({ blocked }) => blocked === 'storageLow'],
  ['away', ({ isThere }) => !isThere],
  ['noLease', ({ isLeader }) => !isLeader],
]

/** What the console shows of each state: `pending` ends by itself, and without the lease the leader shows its own. */
const shown: Record<TargetState, RecordingHindrance | null> = {
  ...{ recording: null, pending: null, noLease: null },
  ...{ node: 'node', off: 'off', storageLow: 'storageLow', away: 'away' },
}

/** Returns the state of a target that is to be recorded. */
export function targetState(facts: TargetFacts): TargetState {
  return states.find(([, holds]) => holds(facts))?.[0] ?? 'pending'
}

/** Returns the reason that the console shows; null: none. */
export function hindranceOf(state: TargetState): RecordingHindrance | null {
  return shown[state]
}

/** Whether nodes are ordered to record; otherwise their orders are empty. */
export function mayOrder({ blocked, isLeader }: SiteFacts): boolean {
  return isLeader && blocked === undefined
}

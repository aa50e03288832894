import type { GapReason } from './segment.ts'
import type { RecordingHindrance } from '../domain/recordings.ts'

/**
 * State of a stream, or of a target, that should be recorded. recording: media is being written. pending: nothing is
 * written, and this has not been reported yet. noLease: this controller may not order recordings. All other states are
 * reasons why nothing is written: reasons of gaps, shown on time lines, and hindrances, shown in the console.
 *
 * Transitions at the node (`RecordedState`), which writes the files:
 *
 * | from | event | to |
 * |---|---|---|
 * | any | a segment started | recording |
 * | recording | a segment ended | pending |
 * | pending, a reason | nothing was written for two seconds | the current reason |
 *
 * The controller computes its state from scratch each time (`targetState`).
 */
export type RecordingState = 'recording' | 'pending' | 'noLease' | GapReason | RecordingHindrance

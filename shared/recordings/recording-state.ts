import type { GapReason } from './segment.ts'
import type { RecordingHindrance } from '../domain/recordings.ts'

/**
 * State of a stream, or of a target, that is to be recorded. recording: media is written. pending: nothing is written, and that is not reported yet. noLease: this controller may
 * not order recordings. All others are reasons why nothing is written: those of gaps, on time lines, and those that the console shows.
 *
 * Transitions at the node (`RecordedState`), which writes the files:
 *
 * | from | event | to |
 * |---|---|---|
 * | any | a segment began | recording |
 * | recording | a segment ended | pending |
 * | pending, a reason | nothing was written for two seconds | the reason that holds now |
 *
 * The controller derives its state anew from what it knows each time (`targetState`).
 */
export type RecordingState = 'recording' | 'pending' | 'noLease' | GapReason | RecordingHindrance

import type { RecordingStarter, RecordingTarget } from '../../shared/console/recordings.ts'
import type { RecordedStream } from '../../shared/recordings/segment.ts'

/** A room, camera or person to record. */
export interface RecordingWish {
  roomId: string
  /** Left out: every stream of the room. */
  userId?: string
}

/** Origin of a recording that a button or an API call started. */
export interface StartedBy {
  by: Exclude<RecordingStarter, 'rule' | 'order'>
  /** Account, name of the host, or access_key. */
  name: string
  /** Network address; left out: none. */
  address?: string
}

/** Starts and stops recordings besides the rules. */
export interface RecordingControl {
  /**
   * Records until `stop`, or until the meeting ends in a room where nobody is a camera. Wishes survive a restart; a second one for the same target changes nothing.
   * @throws ApiError roomNotFound; ConsoleError recordingImpossible where its node cannot record
   */
  start(wish: RecordingWish, by: StartedBy): Promise<RecordingTarget>
  /** Ends a wish. @returns whether nothing records the target any more; false: a rule does */
  stop(wish: RecordingWish, by: StartedBy): Promise<boolean>
  /** Everything that is to be recorded now, of these rooms or of all. */
  targets(roomIds?: readonly string[]): RecordingTarget[]
  /** Called after `targets` changed. Returns the unsubscribe function. */
  onTargets(listener: (roomIds: readonly string[]) => void): () => void
}

/** Deletes and keeps segments. */
export interface RecordingChanges {
  /** Deletes segments that overlap the span, except kept and open ones; files follow in the background. */
  delete(
    streams: readonly RecordedStream[],
    from: number,
    to: number,
  ): Promise<{ segments: number; bytes: number; kept: number }>
}

import { RefusalError } from '../../shared/domain/outcome.ts'
import { atLeast, type Role } from '../../shared/domain/roles.ts'
import type { RecordingViewers } from '../../shared/settings/recording.ts'
import type { RecordedStream } from '../../shared/recordings/segment.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { WantedRecording } from '../nodes/embedded/embedded-media-options.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { RecordingStarter, RecordingTarget } from '../../shared/domain/recordings.ts'

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
   * @throws ApiError roomNotFound; RefusalError recordingImpossible where its node cannot record
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

/**
 * Whether a caller may see recordings of a stream. Operators and admins may see all, viewers those that the setting `recording.viewers` allows.
 * @param device the stream is a camera's, rather than a person's
 */
export function maySeeRecording(role: Role, viewers: RecordingViewers, device: boolean): boolean {
  return atLeast(role, 'operator') || viewers === 'all' || (viewers === 'cameras' && device)
}

/** Dependencies of recording a room for its host. */
interface HostRecordingParts {
  recordings: Pick<RecordingControl, 'start' | 'stop'>
  settings: () => Settings
  logger: NodeLogger
}

/**
 * Starts or stops the recording of a room for a host that its node has verified. Resolves to whether that was done: not if only operators may record, nor while a rule records the room.
 * Never rejects.
 */
export async function recordForHost(
  { recordings, settings, logger }: HostRecordingParts,
  { roomId, on, by }: WantedRecording,
): Promise<boolean> {
  if (!settings().recording.hosts) return false
  const host = { by: 'host', name: by.userName } as const
  try {
    if (!on) return await recordings.stop({ roomId }, host)
    await recordings.start({ roomId }, host)
    return true
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof RefusalError))
      logger.error({ err: error }, 'a room was not recorded for its host')
    return false
  }
}

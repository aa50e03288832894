import { RefusalError } from '../../shared/domain/outcome.ts'
import { atLeast, type Role } from '../../shared/domain/roles.ts'
import type { RecordingViewers } from '../../shared/settings/recording.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { WantedRecording } from '../nodes/embedded/embedded-media-options.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { RecordingStarter, RecordingTarget } from '../../shared/domain/recordings.ts'

/** Room, camera or person to record. */
export interface ManualRecording {
  roomId: string
  /** Camera or person; undefined: every stream of the room. */
  userId?: string
}

/** Origin of a manual recording: a button or an API call. */
export interface StartedBy {
  by: Exclude<RecordingStarter, 'rule' | 'order'>
  /** Account, name of the host, or access_key. */
  name: string
  /** Network address; undefined if there is none. */
  address?: string
}

/** Starts and stops manual recordings. */
export interface RecordingControl {
  /**
   * Records until `stop`. The recording of a room or person also ends with the meeting. Manual recordings survive a
   * restart. A repeated call for the same target has no effect.
   * @throws ApiError roomNotFound; RefusalError recordingImpossible if the room's node cannot record
   */
  start(manual: ManualRecording, by: StartedBy): Promise<RecordingTarget>
  /** Ends a manual recording. @returns true if the target is no longer recorded; false if a rule still records it */
  stop(manual: ManualRecording, by: StartedBy): Promise<boolean>
  /** Called after `targets` changed. Returns the unsubscribe function. */
  onTargets(listener: (roomIds: readonly string[]) => void): () => void
}

/**
 * Whether a caller may see recordings of a stream. Operators and admins may see all recordings. The setting
 * `recording.viewers` determines which recordings viewers may see.
 * @param device whether the stream is from a camera, not from a person
 */
export function maySeeRecording(role: Role, viewers: RecordingViewers, device: boolean): boolean {
  return atLeast(role, 'operator') || viewers === 'all' || (viewers === 'cameras' && device)
}

interface HostRecordingDependencies {
  recordings: Pick<RecordingControl, 'start' | 'stop'>
  settings: () => Settings
  logger: NodeLogger
}

/**
 * Starts or stops the recording of a room for a host verified by its node. Resolves to false if hosts may not record,
 * the request failed, or a rule still records the room after a stop. Never rejects.
 */
export async function recordForHost(
  { recordings, settings, logger }: HostRecordingDependencies,
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

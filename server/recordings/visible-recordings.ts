import type { RecordingViewers } from '../../shared/settings/recording.ts'
import { atLeast, type Role } from '../../shared/console/role-names.ts'

/**
 * Tells whether a caller may see recordings of a stream: operators and admins all, viewers as the setting `recording.viewers` says.
 * @param device the stream is a camera's, rather than a person's
 */
export function maySeeRecording(role: Role, viewers: RecordingViewers, device: boolean): boolean {
  return atLeast(role, 'operator') || viewers === 'all' || (viewers === 'cameras' && device)
}

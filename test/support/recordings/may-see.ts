import { atLeast } from '../../../shared/domain/roles.ts'
import type { PlaybackCaller } from '../../../server/recordings/playback/playback-port.ts'

/** Operators see all recordings, viewers those of cameras, as a site does that changes nothing. */
export function maySee({ role }: PlaybackCaller, { device }: { device: boolean }): boolean {
  return atLeast(role, 'operator') || device
}

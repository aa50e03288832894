import type { ToPerson } from '../../../shared/media/signal.ts'
import type { LostCameras } from './lost-cameras.ts'
import type { RoomMember } from './member.ts'
import type { RoomConfig } from './room-config.ts'
import type { LeaveReason } from './room-listener.ts'
import type { RoomStreams } from './room-streams.ts'
import type { Speakers } from './speakers.ts'

/**
 * Maximum number of streams that one person watches, and of unseen viewers per room: an audience of hundreds may watch
 * one camera.
 */
export const maxWatched = 256
export const maxObserved = 1_000

/** State of a room that its components share. */
export interface RoomState {
  readonly config: RoomConfig
  /** In order of joining. */
  readonly members: Map<string, RoomMember>
  readonly streams: RoomStreams
  readonly speakers: Speakers
  /** Cameras that are expected back. */
  readonly lost: LostCameras
  broadcast(message: ToPerson, except?: RoomMember): void
  notifyChanged(member: RoomMember): void
  remove(userId: string, reason: LeaveReason): boolean
  /** @throws Problem noRoom, noSession */
  assertPresent(member: RoomMember | undefined): void
  dropIfGone(member: RoomMember): void
}

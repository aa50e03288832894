import type { ToPerson } from '../../../shared/media/signal.ts'
import type { LostCameras } from './lost-cameras.ts'
import type { Member } from './member.ts'
import type { RoomConfig } from './room-config.ts'
import type { LeaveReason } from './room-listener.ts'
import type { RoomStreams } from './room-streams.ts'
import type { Speakers } from './speakers.ts'

/** Streams that one person watches at most, and unseen viewers of one room: an audience of hundreds watches one camera. */
export const maxWatched = 256
export const maxObserved = 1_000

/** State of a room that its parts share. */
export interface RoomState {
  readonly config: RoomConfig
  /** In the order they joined. */
  readonly members: Map<string, Member>
  readonly streams: RoomStreams
  readonly speakers: Speakers
  /** Cameras that are to come back. */
  readonly lost: LostCameras
  broadcast(message: ToPerson, except?: Member): void
  notifyChanged(member: Member): void
  remove(userId: string, reason: LeaveReason): boolean
  /** @throws Problem noRoom, noSession */
  assertPresent(member: Member | undefined): void
  dropIfGone(member: Member): void
}

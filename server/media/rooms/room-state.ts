import type { RoomMember } from './member.ts'
import type { RoomConfig } from './room-config.ts'
import type { RoomMembers } from './room-members.ts'
import type { LeaveReason, RoomReports } from './room-reports.ts'
import type { RoomStreams } from './room-streams.ts'
import type { Speakers } from './speakers.ts'

/**
 * Maximum number of streams that one person watches, and of observers per room: an audience of hundreds may watch one
 * camera.
 */
export const maxWatched = 256
export const maxObserved = 1_000

/** Parts of a room that its media uses. */
export interface RoomState {
  readonly config: RoomConfig
  readonly reports: RoomReports
  readonly members: RoomMembers
  readonly streams: RoomStreams
  readonly speakers: Speakers
  /** See `Attendance`. */
  readonly attendance: {
    addRemote(member: RoomMember): void
    remove(userId: string, reason: LeaveReason): boolean
    dropIfGone(member: RoomMember): void
  }
}

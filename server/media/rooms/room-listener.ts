import type { Doer, HostAct } from '../../../shared/media/control.ts'
import type { Member, RoomUser } from './member.ts'

/** Why somebody is no longer in a room. */
export type LeaveReason = 'left' | 'kicked' | 'closed' | 'restarting' | 'ended' | 'lost'

/** What a room tells its node, and asks it. */
export interface RoomListener {
  joined(roomId: string, member: Member): void
  /** The same user came anew, as another member, and nobody saw them go. @param differs what the controller knows of them is otherwise than before */
  replaced(roomId: string, member: Member, differs: boolean): void
  /** The same stay, changed: a member became host. */
  changed(roomId: string, user: RoomUser): void
  /** Not for a device that was lost: whoever found out tells that. */
  left(roomId: string, userId: string, reason: LeaveReason): void
  /** Somebody is out, whatever the reason: their session is worth nothing any more. */
  ended(session: string): void
  /** A host did something. @param act with whom it was done, and how many people it met */
  acted(roomId: string, by: Doer, act: { act: HostAct; who?: Doer; count: number }): void
  /** Stops or resumes forwarding what somebody sends to the remote node. @param act `by`: the host who wants it; empty: themselves */
  muted(roomId: string, userId: string, act: { kind: 'audio' | 'video'; muted: boolean; by: string }): void
  /** What nobody foresaw happened in the room by itself: it is not to be trusted any more. */
  failed(error: unknown): void
  /** Whether the id is that of an outgoing user of the room, by the controller's word. */
  isOutgoing(userId: string): boolean
}

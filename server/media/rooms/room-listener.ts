import type { Doer, HostAct } from '../../../shared/media/control.ts'
import type { WaitingPerson } from '../../../shared/media/signal.ts'
import type { Member, RoomUser } from './member.ts'

/** Why somebody is no longer in a room. */
export type LeaveReason = 'left' | 'kicked' | 'closed' | 'restarting' | 'ended' | 'lost'

/** Events and requests of a room for its node. */
export interface RoomListener {
  joined(roomId: string, member: Member): void
  /** The same user came again as another member, without leaving. @param differs the controller's facts about them changed */
  replaced(roomId: string, member: Member, differs: boolean): void
  /** The same participant session, changed: a member became host, or raised or lowered their hand. */
  changed(roomId: string, user: RoomUser): void
  /** Not called for a device that was lost: its finder reports that. */
  left(roomId: string, userId: string, reason: LeaveReason): void
  /** Somebody is out, whatever the reason: their session is worth nothing any more. */
  ended(session: string): void
  /** A host acted. @param act person concerned, and number of people */
  acted(roomId: string, by: Doer, act: { act: HostAct; who?: Doer; count: number }): void
  /** Other people than before wait. */
  waiting(roomId: string, people: WaitingPerson[]): void
  /** Stops or resumes forwarding what somebody sends to the remote node. @param act `by`: the host who wants it; empty: themselves */
  muted(roomId: string, userId: string, act: { kind: 'audio' | 'video'; muted: boolean; by: string }): void
  /** An unexpected error happened in the room by itself: its state is not trusted any more. */
  failed(error: unknown): void
  /** Whether the id is that of an outgoing user of the room, by the controller's word. */
  isOutgoing(userId: string): boolean
}

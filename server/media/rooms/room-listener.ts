import type { Doer, HostAct } from '../../../shared/media/control.ts'
import type { WaitingPerson } from '../../../shared/media/signal.ts'
import type { RoomMember, RoomUser } from './member.ts'

/** Reason why a member is no longer in a room. */
export type LeaveReason = 'left' | 'kicked' | 'closed' | 'restarting' | 'ended' | 'lost'

/** Events and queries of a room to its node. */
export interface RoomListener {
  joined(roomId: string, member: RoomMember): void
  /**
   * The same user joined again as a new member, without leaving.
   * @param differs whether data that the controller has about the user changed
   */
  replaced(roomId: string, member: RoomMember, differs: boolean): void
  /** The user data changed within a participant session: a member became host, or raised or lowered their hand. */
  changed(roomId: string, user: RoomUser): void
  /** A participant left. Not called if a device is lost, because the device's lease reports the loss. */
  left(roomId: string, userId: string, reason: LeaveReason): void
  /** A participant session ended, for any reason, and is no longer valid. */
  ended(session: string): void
  /** A host performed an action. @param act action, person concerned, and number of people */
  acted(roomId: string, by: Doer, act: { act: HostAct; who?: Doer; count: number }): void
  waiting(roomId: string, people: WaitingPerson[]): void
  /**
   * Stops or resumes forwarding what a user sends to the remote node.
   * @param act `by`: id of the host; empty: the user themselves
   */
  muted(roomId: string, userId: string, act: { kind: 'audio' | 'video'; muted: boolean; by: string }): void
  /** An unexpected error happened in the room, so its state is no longer trusted. */
  failed(error: unknown): void
  /** Returns whether the id belongs to an outgoing user of the room, according to the controller. */
  isOutgoing(userId: string): boolean
}

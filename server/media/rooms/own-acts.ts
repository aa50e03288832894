import type { RelayPayload } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import type { RoomMember } from './member.ts'
import { isPeerToPeer } from './room-config.ts'
import type { Room } from './room.ts'

/** Actions that every member of a room may perform. */

/** Adds a chat line for all people in the room, including people who join later. */
export function say(room: Room, member: RoomMember, text: string): void {
  room.members.broadcast({ type: 'chat', line: room.meeting.chat.add(member.user, text) })
}

/** Sets a member's own microphone and camera state. Unmuting ends a mute by a host. */
export function setState(room: Room, member: RoomMember, audio: boolean, video: boolean): void {
  member.live.audio = audio
  member.live.video = video
  room.speakUp(member, { audio, video })
  room.members.notifyChanged(member)
}

/** Forwards a message between the pages of two people in a peer-to-peer room. @throws Problem badRequest, noStream */
export function relay(room: Room, from: RoomMember, to: string, payload: RelayPayload): void {
  if (!isPeerToPeer(room.config)) throw new Problem('badRequest', 'People of this room send to the node.')
  const member = room.members.get(to)
  if (member === undefined || member.device !== undefined)
    throw new Problem('noStream', 'Nobody of this id is in the room.')
  member.signalling.sendOrKeep({ type: 'relay', from: from.user.userId, payload })
}

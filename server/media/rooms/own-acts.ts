import type { RelayPayload } from '../../../shared/media/signal.ts'
import { Problem } from '../base/problem.ts'
import type { Member } from './member.ts'
import { isPeerToPeer } from './room-config.ts'
import type { Room } from './room.ts'
import { speakUp } from './silence.ts'

/** Requests that everybody in a room may make, host or not. */

/** Everybody reads it, and those who come later. */
export function say(room: Room, member: Member, text: string): void {
  room.broadcast({ type: 'chat', line: room.chat.add(member.user, text) })
}

/** Somebody's own word about microphone and camera; speaking up ends a host's mute. */
export function setState(room: Room, member: Member, audio: boolean, video: boolean): void {
  member.audio = audio
  member.video = video
  speakUp(room, member, { audio, video })
  room.notifyChanged(member)
}

/** Hands on what people of a peer-to-peer room say to each other's pages. @throws Problem badRequest, noStream */
export function relay(room: Room, from: Member, to: string, payload: RelayPayload): void {
  if (!isPeerToPeer(room.config)) throw new Problem('badRequest', 'People of this room send to the node.')
  const member = room.members.get(to)
  if (member === undefined || member.device !== undefined)
    throw new Problem('noStream', 'Nobody of this id is in the room.')
  member.sendOrKeep({ type: 'relay', from: from.user.userId, payload })
}

import { Problem } from '../problem.ts'
import type { MediaRooms } from './media-rooms.ts'
import type { Member } from './member.ts'
import type { Room } from './room.ts'

/** What the host of a room may do with others; each throws Problem forbidden for anybody else. */

/** @throws Problem forbidden */
export function assertHost(member: Member): void {
  if (member.user.role !== 'host') throw new Problem('forbidden')
}

/** Silences somebody, who may speak up again. @throws Problem forbidden, noStream */
export function mute(room: Room, by: Member, userId: string, kind: 'audio' | 'video'): void {
  assertHost(by)
  const member = room.members.get(userId)
  if (member === undefined) throw new Problem('noStream', 'Nobody of this id is in the room.')
  if (member.device !== undefined) throw new Problem('forbidden', "Cameras are the operator's.")
  silence(room, by, member, kind)
}

function silence(room: Room, by: Member, member: Member, kind: 'audio' | 'video'): void {
  const feed = member.publications.get('main')?.feed
  if (kind === 'audio') {
    member.audio = false
    if (feed !== undefined) feed.audioMuted = true
  } else {
    member.video = false
    if (feed !== undefined) feed.videoMuted = true
  }
  member.send({ type: 'muted', by: by.user.userId, kind })
  room.tellChanged(member)
}

/** Takes somebody out. @throws Problem forbidden, noStream */
export function remove(rooms: MediaRooms, room: Room, by: Member, userId: string): void {
  assertHost(by)
  if (room.members.get(userId)?.device !== undefined)
    throw new Problem('forbidden', 'Cameras are removed by the operator.')
  if (!rooms.kick(room.config.roomId, userId)) throw new Problem('noStream', 'Nobody of this id is in the room.')
}

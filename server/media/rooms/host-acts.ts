import type { Doer } from '../../../shared/media/control.ts'
import { Problem } from '../base/problem.ts'
import type { MediaRooms } from './media-rooms.ts'
import type { Member } from './member.ts'
import type { RoomRequests } from './room-requests.ts'
import type { Room } from './room.ts'
import { silence } from './silence.ts'

/** Acts of a room's host. That nobody else asks for them holds where messages are taken: shared/authorization/signal-rights.ts. */

/** Silences somebody, who may speak up again. @throws Problem forbidden, noStream */
export function mute(room: Room, by: Member, userId: string, kind: 'audio' | 'video'): void {
  const member = room.members.get(userId)
  if (member === undefined) throw new Problem('noStream', 'Nobody of this id is in the room.')
  if (member.user.device) throw new Problem('forbidden', "Cameras are the operator's.")
  silence(room, member, kind, by.user.userId)
}

/** Silences everybody who is no host and speaks; each may speak up again. */
export function muteAll(room: Room, by: Member): void {
  const others = [...room.members.values()].filter(({ user, audio }) => !user.device && user.role !== 'host' && audio)
  for (const member of others) silence(room, member, 'audio', by.user.userId)
  room.reportAct(by, { act: 'mutedAll', count: others.length })
}

/** Takes every person out, who may come again at once, as to a new meeting; cameras stay. */
export function endMeeting(room: Room, by: Member): void {
  room.restart()
  room.waiting.clear((link) => link.removed('ended'))
  const people = [...room.members.values()].filter(({ user }) => !user.device)
  for (const { user } of people) room.remove(user.userId, 'ended')
  room.reportAct(by, { act: 'ended', count: people.length })
}

/** Lets in somebody who waits, or everybody. @throws Problem noStream, locked, roomFull */
export function letIn(room: Room, by: Member, userId?: string): void {
  room.waiting.letIn((who) => room.reportAct(by, { act: 'letIn', who: nameOf(who), count: 1 }), userId)
}

/** Does not let in somebody who waits. @throws Problem noStream */
export function turnAway(room: Room, by: Member, userId: string): void {
  room.reportAct(by, { act: 'turnedAway', who: nameOf(room.waiting.turnAway(userId)), count: 1 })
}

/** Wants the room locked or unlocked: the controller keeps that. @throws Problem busy */
export async function lock(requests: RoomRequests, room: Room, by: Member, locked: boolean): Promise<void> {
  await requests.lock(room.config.roomId, locked, nameOf(by.user))
}

/** Sends the host a join link for anybody: the controller makes it. @throws Problem busy */
export async function invite(requests: RoomRequests, room: Room, by: Member): Promise<void> {
  by.send({ type: 'invitation', url: await requests.invite(room.config.roomId, nameOf(by.user), by.linkId) })
}

/** Wants the room recorded, or no more: the controller decides that. @throws Problem busy */
export async function record(requests: RoomRequests, room: Room, by: Member, on: boolean): Promise<void> {
  await requests.record(room.config.roomId, on, nameOf(by.user))
}

function nameOf({ userId, userName }: Doer): Doer {
  return { userId, userName }
}

/** Takes somebody out. @throws Problem forbidden, noStream */
export function remove(rooms: MediaRooms, room: Room, by: Member, userId: string): void {
  if (room.members.get(userId)?.user.device === true)
    throw new Problem('forbidden', 'Cameras are removed by the operator.')
  if (!rooms.kick(room.config.roomId, userId, nameOf(by.user)))
    throw new Problem('noStream', 'Nobody of this id is in the room.')
}

import type { ControlResult, Doer, WaitingRefusal } from '../../../shared/media/control.ts'
import { Problem } from '../base/problem.ts'
import type { MediaRooms } from './media-rooms.ts'
import type { RoomMember } from './member.ts'
import type { RoomRequests } from './room-requests.ts'
import type { Room } from './room.ts'

/**
 * Actions of a room's host, and of the operator on waiting people. A host's rights are checked before, when a message
 * arrives: shared/authorization/signal-rights.ts.
 */

/** Mutes a person. The person may unmute themselves. @throws Problem forbidden, noStream */
export function mute(room: Room, by: RoomMember, userId: string, kind: 'audio' | 'video'): void {
  const member = room.members.get(userId)
  if (member === undefined) throw new Problem('noStream', 'Nobody of this id is in the room.')
  if (member.user.device) throw new Problem('forbidden', "Cameras are the operator's.")
  room.silence(member, kind, by.user.userId)
}

/** Mutes everybody with a live microphone except hosts. They may unmute themselves. */
export function muteAll(room: Room, by: RoomMember): void {
  const others = [...room.members.values()].filter(
    ({ user, live }) => !user.device && user.role !== 'host' && live.audio,
  )
  for (const member of others) room.silence(member, 'audio', by.user.userId)
  room.reports.acted(by.user, { act: 'mutedAll', count: others.length })
}

/** Removes every person and ends the meeting. They may join the next meeting at once. Cameras stay. */
export function endMeeting(room: Room, by: RoomMember): void {
  room.meeting.restart()
  room.waiting.clear((link) => link.removed('ended'))
  const people = [...room.members.values()].filter(({ user }) => !user.device)
  for (const { user } of people) room.attendance.remove(user.userId, 'ended')
  room.reports.acted(by.user, { act: 'ended', count: people.length })
}

/** Admits one waiting user, or all if `userId` is omitted. @throws Problem noStream, locked, roomFull */
export function letIn(room: Room, by: RoomMember, userId?: string): void {
  room.waiting.letIn((who) => room.reports.acted(by.user, { act: 'letIn', who: nameOf(who), count: 1 }), userId)
}

/** Refuses a waiting user. @throws Problem noStream */
export function turnAway(room: Room, by: RoomMember, userId: string): void {
  room.reports.acted(by.user, { act: 'turnedAway', who: nameOf(room.waiting.turnAway(userId)), count: 1 })
}

/** Asks the controller to lock or unlock the room. @throws Problem busy */
export async function lock(requests: RoomRequests, room: Room, by: RoomMember, locked: boolean): Promise<void> {
  await requests.lock(room.config.roomId, locked, nameOf(by.user))
}

/** Requests a join link for anybody from the controller and sends it to the host. @throws Problem busy */
export async function invite(requests: RoomRequests, room: Room, by: RoomMember): Promise<void> {
  by.signalling.send({
    type: 'invitation',
    url: await requests.invite(room.config.roomId, nameOf(by.user), by.entry.linkId),
  })
}

/** Asks the controller to start or stop the recording of the room. @throws Problem busy */
export async function record(requests: RoomRequests, room: Room, by: RoomMember, on: boolean): Promise<void> {
  await requests.record(room.config.roomId, on, nameOf(by.user))
}

/** Removes a person from the room. @throws Problem forbidden, noStream */
export function remove(rooms: MediaRooms, room: Room, by: RoomMember, userId: string): void {
  if (room.members.get(userId)?.user.device === true)
    throw new Problem('forbidden', 'Cameras are removed by the operator.')
  if (!rooms.kick(room.config.roomId, userId, nameOf(by.user)))
    throw new Problem('noStream', 'Nobody of this id is in the room.')
}

/** Result of an action of the operator. The controller records these actions. */
type Outcome = ControlResult<'admit_waiting'>

/** Admits one waiting user, or all if `userId` is undefined, for the operator. */
export function admitWaiting(room: Room | undefined, userId: string | undefined): Outcome {
  const people: Doer[] = []
  return outcomeOf(people, () => {
    if (room === undefined) throw new Problem('noStream')
    room.waiting.letIn((identity) => people.push(nameOf(identity)), userId)
  })
}

/** Refuses a waiting user, for the operator. */
export function refuseWaiting(room: Room | undefined, userId: string): Outcome {
  const people: Doer[] = []
  return outcomeOf(people, () => {
    if (room === undefined) throw new Problem('noStream')
    people.push(nameOf(room.waiting.turnAway(userId)))
  })
}

function outcomeOf(people: Doer[], act: () => void): Outcome {
  try {
    act()
    return { people, refusal: null }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { people, refusal: refusalOf(error) }
  }
}

function refusalOf({ refusal }: Problem): WaitingRefusal {
  if (refusal === 'noStream') return 'notWaiting'
  return refusal === 'locked' || refusal === 'roomFull' ? refusal : 'failed'
}

function nameOf({ userId, userName }: Doer): Doer {
  return { userId, userName }
}

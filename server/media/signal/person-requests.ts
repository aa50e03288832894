import type { MessageOf } from '../../../shared/authorization/signal-rights.ts'
import * as hostActs from '../rooms/host-acts.ts'
import type { MediaRooms, Place } from '../rooms/media-rooms.ts'
import * as ownActs from '../rooms/own-acts.ts'
import { lowerHand, setHand } from '../rooms/raised-hands.ts'
import type { RoomRequests } from '../rooms/room-requests.ts'

/** Sender of a request and the dependencies of its handlers. */
export interface Requester extends Place {
  rooms: MediaRooms
  requests: RoomRequests
  /** Reports a refusal after an asynchronous request. */
  refuse: (error: unknown) => void
  close: () => void
}

/** Performs a request of a member who has the right to make it. @throws Problem */
export function handleRequest(
  { room, member, rooms, requests, refuse, close }: Requester,
  message: MessageOf<'member' | 'host'>,
): void {
  switch (message.type) {
    case 'leave':
      room.attendance.remove(member.user.userId, 'left')
      return close()
    case 'ping':
      return member.signalling.send({ type: 'pong', id: message.id })
    case 'chat':
      return ownActs.say(room, member, message.text)
    case 'state':
      return ownActs.setState(room, member, message.audio, message.video)
    case 'shown':
      return member.watched.show(new Map(message.streams.map(({ stream_id, height }) => [stream_id, height])))
    case 'mute':
      return hostActs.mute(room, member, message.user_id, message.kind)
    case 'remove':
      return hostActs.remove(rooms, room, member, message.user_id)
    case 'hand':
      return setHand(room, member, message.raised)
    case 'react':
      return room.reactions.add(member, message.reaction)
    case 'lower_hand':
      return lowerHand(room, member, message.user_id)
    case 'mute_all':
      return hostActs.muteAll(room, member)
    case 'lock':
      return void hostActs.lock(requests, room, member, message.locked).catch(refuse)
    case 'invite':
      return void hostActs.invite(requests, room, member).catch(refuse)
    case 'record':
      return void hostActs.record(requests, room, member, message.on).catch(refuse)
    case 'end_meeting':
      return hostActs.endMeeting(room, member)
    case 'let_in':
      return hostActs.letIn(room, member, message.user_id)
    case 'turn_away':
      return hostActs.turnAway(room, member, message.user_id)
    case 'relay':
      return ownActs.relay(room, member, message.to, message.payload)
  }
}

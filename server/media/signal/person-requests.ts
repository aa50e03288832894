import type { FromPerson } from '../../../shared/media/signal.ts'
import { Problem } from '../problem.ts'
import * as hostActs from '../rooms/host-acts.ts'
import type { MediaRooms, Place } from '../rooms/media-rooms.ts'

/** Whose request it is, and what it works on. */
export interface Requester extends Place {
  rooms: MediaRooms
  /** Ends the connection. */
  close: () => void
}

/** Does what somebody in a room asks for. @throws Problem */
export function handleRequest({ room, member, rooms, close }: Requester, message: FromPerson): void {
  switch (message.type) {
    case 'join':
    case 'resume':
      throw new Problem('badRequest', 'You are in already.')
    case 'leave':
      room.remove(member.user.userId, 'left')
      return close()
    case 'ping':
      return member.send({ type: 'pong', id: message.id })
    case 'chat':
      return room.say(member, message.text)
    case 'state':
      return room.setState(member, message.audio, message.video)
    case 'shown':
      return member.show(new Map(message.streams.map(({ stream_id, height }) => [stream_id, height])))
    case 'mute':
      return hostActs.mute(room, member, message.user_id, message.kind)
    case 'remove':
      return hostActs.remove(rooms, room, member, message.user_id)
    case 'relay':
      return room.relay(member, message.to, message.payload)
  }
}

import { type AnyOperation, implement } from '../http/operation.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { OrderedMedia } from '../recordings/client-recordings/ordered-media.ts'
import { mcuOperations } from './mcu.ts'
import { implementRecordingOperations } from './recording-operations.ts'
import { roomOperations } from './room-operations.ts'
import { countUsers, forceOffline, joinUrl, listUsers } from '../../shared/media-operations.ts'
import { makerOfClient } from '../capabilities/capability.ts'
import { byClient } from '../store/trash/trash.ts'

export interface MediaServices {
  rooms: Rooms
  joinLinks: JoinLinks
  orders: OrderedMedia
}

/** Returns the operations of the media API except authenticate, which is implemented in `authenticate.ts`. */
export function implementMediaOperations({ rooms, joinLinks, orders }: MediaServices): AnyOperation[] {
  return [
    ...roomOperations(rooms),
    ...mcuOperations(rooms),
    ...userOperations(rooms),
    joinUrlOperation(joinLinks),
    ...implementRecordingOperations(orders),
  ]
}

/** The operation that creates a join link for a client's own user (an extension of the specification). */
function joinUrlOperation(links: JoinLinks): AnyOperation {
  return implement(joinUrl, ({ room_id, user_id, user_name, role, ttl }, { accessKey }) =>
    links.make({
      roomId: room_id,
      userId: user_id,
      userName: user_name,
      role: role ?? 'member',
      lifeMs: ttl === undefined ? undefined : ttl * 1_000,
      maker: makerOfClient(accessKey),
    }),
  )
}

/** Operations on the users of a room (specification, section 4.1). */
function userOperations(rooms: Rooms): AnyOperation[] {
  return [
    implement(listUsers, async ({ room_id }) => {
      const users = await rooms.users(room_id)
      return { user_list: users.map(({ userId, userName }) => ({ user_name: userName, user_id: userId })) }
    }),
    implement(countUsers, async ({ room_id }) => {
      const users = await rooms.users(room_id)
      return { user_count_list: [{ room_id, user_count: users.length }] }
    }),
    implement(forceOffline, async ({ room_id, user_id }, { accessKey }) => {
      await rooms.kick(room_id, user_id, byClient(accessKey))
      return { msg: 'success' }
    }),
  ]
}

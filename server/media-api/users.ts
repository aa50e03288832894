import { countUsers, forceOffline, listUsers } from '../../shared/media-operations.ts'
import { type AnyOperation, implement } from '../http/operation.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import { byClient } from '../store/trash/trash.ts'

/** Operations on the users of a room (specification, section 4.1). */
export function userOperations(rooms: Rooms): AnyOperation[] {
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

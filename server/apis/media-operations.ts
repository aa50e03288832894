import { type authenticate, mediaOperations } from '../../shared/media-operations.ts'
import { makerOfClient } from '../capabilities/capability.ts'
import { type AnyOperation, type Handler, implement } from '../http/operation.ts'
import type { OrderedMedia } from '../recordings/client-recordings/ordered-media.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import { byClient } from '../store/trash.ts'
import { mcuOf } from './mcu.ts'
import { recordingHandlers } from './recording-operations.ts'
import { roomHandlers } from './room-operations.ts'

export interface MediaServices {
  authenticate: Handler<typeof authenticate>
  rooms: Rooms
  joinLinks: JoinLinks
  orders: OrderedMedia
}

/** Returns the operations of the media API (specification, section 4.1). */
export function implementMediaOperations({ authenticate, rooms, joinLinks, orders }: MediaServices): AnyOperation[] {
  return implement(mediaOperations, {
    authenticate,
    ...roomHandlers(rooms),
    get_mcu: ({ room_id, options }) => mcuOf(rooms, room_id, options),
    list_users: async ({ room_id }) => {
      const users = await rooms.users(room_id)
      return { user_list: users.map(({ userId, userName }) => ({ user_name: userName, user_id: userId })) }
    },
    get_user_number: async ({ room_id }) => {
      const users = await rooms.users(room_id)
      return { user_count_list: [{ room_id, user_count: users.length }] }
    },
    force_offline: async ({ room_id, user_id }, { accessKey }) => {
      await rooms.kick(room_id, user_id, byClient(accessKey))
      return { msg: 'success' }
    },
    join_url: ({ room_id, user_id, user_name, role, ttl }, { accessKey }) =>
      joinLinks.make({
        roomId: room_id,
        userId: user_id,
        userName: user_name,
        role: role ?? 'member',
        lifeMs: ttl === undefined ? undefined : ttl * 1_000,
        maker: makerOfClient(accessKey),
      }),
    ...recordingHandlers(orders),
  })
}

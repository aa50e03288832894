import { z } from 'zod'
import { type authenticate, type getRoom, mediaOperations } from '../../shared/media-operations.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { tokenKinds } from '../../shared/tokens.ts'
import { makerOfClient } from '../capabilities/capability.ts'
import { type AnyOperation, type Handler, type HandlersOf, implement } from '../http/operation.ts'
import type { OrderedMedia } from '../recordings/client-recordings/ordered-media.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { NewRoom } from '../rooms/room-record.ts'
import type { StoredRoom } from '../store/records.ts'
import { byClient } from '../store/trash.ts'

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

/** Operations on rooms (specification, section 4.1). */
function roomHandlers(rooms: Rooms) {
  return {
    create_room: (wanted, { accessKey }) => createdRoom(rooms, wanted, accessKey),
    // Synchronous, because this is the most frequent call.
    get_room: ({ room_id }) => describe(rooms, rooms.get(room_id)),
    get_room_by_extend_id: ({ room_extend_id }) => {
      const room = rooms.get(room_extend_id)
      // A room without an identifier chosen by its creator is found only by its number.
      if (room.room_extend_id !== room_extend_id) throw new ApiError('roomNotFound')
      return describe(rooms, room)
    },
    update_room: async ({ room_id, ...changes }, { accessKey }) => {
      await rooms.update(room_id, changes, accessKey)
      return { room_id }
    },
    delete_room: async ({ room_id }, { accessKey }) => {
      await rooms.delete(room_id, byClient(accessKey))
      return { room_id }
    },
  } satisfies Partial<HandlersOf<typeof mediaOperations>>
}

/** Creates a room. @throws the errors of Rooms.create */
export async function createdRoom(rooms: Rooms, wanted: NewRoom, accessKey: string): Promise<{ room_id: string }> {
  const { room_id } = await rooms.create(wanted, accessKey)
  return { room_id }
}

function describe(rooms: Rooms, room: StoredRoom): z.output<typeof getRoom.success> {
  return {
    id: room.id,
    room_id: room.room_id,
    topic: room.topic,
    room_status: rooms.status(room),
    owner_id: room.owner_id,
    host_password: rooms.hostPassword(room),
    attendee_max: room.attendee_max,
    max_audio: room.max_audio,
    max_video: room.max_video,
    room_extend_id: room.room_extend_id,
    room_mode: room.room_mode,
  }
}

/** `options` of clients in the field; unknown keys are ignored. */
const optionsSchema = z.object({
  ip_tag: z.string().max(64).optional(),
  idc_code: z.string().max(64).optional(),
})

/**
 * Returns the MCU of a client's room (specification, section 4.1; contract, section 3).
 * @throws ApiError parameter, and the errors of Rooms.mcuAddress
 */
export async function mcuOf(rooms: Rooms, roomId: string, options = ''): Promise<{ addr: string }> {
  const { ip_tag: ipTag, idc_code: idcCode } = parseOptions(options)
  return { addr: await rooms.mcuAddress(roomId, { ipTag, idcCode }) }
}

function parseOptions(text: string): z.output<typeof optionsSchema> {
  if (text === '') return {}
  try {
    return optionsSchema.parse(JSON.parse(text))
  } catch {
    throw new ApiError('parameter', {
      field: 'options',
      refusal: refusal('optionsNotJson', { example: '{"ip_tag":"local","idc_code":""}' }),
    })
  }
}

const usualCount = 100
const linkSeconds = tokenKinds['live-link'].lifetime.defaultMs / 1_000

/** Recordings and live streams of rooms, people and cameras. */
function recordingHandlers(orders: OrderedMedia) {
  const { recordings, lives } = orders
  return {
    recording_start: async ({ user_id = '', sound = 'own', picture = 'main', ...request }, { accessKey }) =>
      orders.recordingFacts(
        await recordings.begin({ ...request, user_id, sound, picture, maker: makerOfClient(accessKey) }),
      ),
    recording_stop: async ({ id }) => orders.recordingFacts(await recordings.end(id)),
    recording_get: ({ id }) => orders.recordingFacts(recordings.stored.get(id)),
    recording_list: ({ begin = 0, count = usualCount, room_id: roomId, user_id: userId, from, to }) => {
      const found = recordings.stored.list({ roomId, userId, from, to })
      const items = found.slice(begin, begin + count).map((recording) => orders.recordingFacts(recording))
      return { total: found.length, items }
    },
    recording_delete: async ({ id }) => {
      await recordings.stored.delete(id)
      return { id }
    },
    recording_link: ({ room_id, user_id, source = 'main', from, to, ttl = linkSeconds }, { accessKey }) =>
      orders.recordedLink({ room: room_id, user: user_id, source, from, to }, ttl * 1_000, makerOfClient(accessKey)),
    live_start: async ({ sound = 'own', picture = 'main', rtmp_url = '', publish_url, ...request }, caller) => {
      const given = { ...request, sound, picture, rtmp_url, hls_url: '', maker: makerOfClient(caller.accessKey) }
      return orders.liveFacts(await lives.begin({ ...given, publishUrl: publish_url }))
    },
    live_stop: async ({ id }) => orders.liveFacts(await lives.end(id)),
    live_get: ({ id }) => orders.liveFacts(lives.stored.get(id)),
    live_list: ({ begin = 0, count = usualCount, room_id: roomId, user_id: userId, from, to }) => {
      const found = lives.stored.list({ roomId, userId, from, to })
      return { total: found.length, items: found.slice(begin, begin + count).map((live) => orders.liveFacts(live)) }
    },
    live_delete: async ({ id }) => {
      await lives.delete(id)
      return { id }
    },
    live_link: ({ room_id, user_id, source = 'main', ttl = linkSeconds }, { accessKey }) =>
      orders.liveLink({ roomId: room_id, userId: user_id, source }, ttl * 1_000, makerOfClient(accessKey)),
  } satisfies Partial<HandlersOf<typeof mediaOperations>>
}

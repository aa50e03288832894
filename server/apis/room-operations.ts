import type { z } from 'zod'
import type { getRoom, mediaOperations } from '../../shared/media-operations.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { HandlersOf } from '../http/operation.ts'
import type { NewRoom } from '../rooms/room-record.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { StoredRoom } from '../store/records.ts'
import { byClient } from '../store/trash.ts'

/** Operations on rooms (specification, section 4.1). */
export function roomHandlers(rooms: Rooms) {
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

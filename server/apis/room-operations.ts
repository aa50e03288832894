import type { z } from 'zod'
import { createRoom, deleteRoom, getRoom, getRoomByExtendId, updateRoom } from '../../shared/media-operations.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { type AnyOperation, implement } from '../http/operation.ts'
import type { NewRoom } from '../rooms/room-record.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { StoredRoom } from '../store/records.ts'
import { byClient } from '../store/trash/trash.ts'

/** Operations on rooms (specification, section 4.1). */
export function roomOperations(rooms: Rooms): AnyOperation[] {
  return [
    implement(createRoom, (wanted, { accessKey }) => createdRoom(rooms, wanted, accessKey)),
    // Synchronous, because this is the most frequent call.
    implement(getRoom, ({ room_id }) => describe(rooms, rooms.get(room_id))),
    implement(getRoomByExtendId, ({ room_extend_id }) => {
      const room = rooms.get(room_extend_id)
      // A room without an identifier chosen by its creator is found only by its number.
      if (room.room_extend_id !== room_extend_id) throw new ApiError('roomNotFound')
      return describe(rooms, room)
    }),
    implement(updateRoom, async ({ room_id, ...changes }, { accessKey }) => {
      await rooms.update(room_id, changes, accessKey)
      return { room_id }
    }),
    implement(deleteRoom, async ({ room_id }, { accessKey }) => {
      await rooms.delete(room_id, byClient(accessKey))
      return { room_id }
    }),
  ]
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

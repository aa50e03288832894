import { z } from 'zod'
import { limits } from '../limits.ts'
import { bytes, nameBytes } from '../operation.ts'
import { entriesByNumber } from '../room-entry.ts'
import { roomScheduleSchema } from '../schedule/room-schedule.ts'
import { tagsSchema } from '../tags.ts'
import { recordVersion } from './record-version.ts'
import { moment } from './outcome.ts'

/** Statuses of a room, in the order of room_status 0 to 3 (contract, section 3). */
export const roomStatuses = ['scheduled', 'open', 'locked', 'closed'] as const
export type RoomStatus = (typeof roomStatuses)[number]
const mode = z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)])
export const roomMeeting = z.strictObject({ start: moment, end: moment })

export const roomView = z.strictObject({
  id: z.int(),
  room_id: z.string(),
  topic: z.string(),
  status: z.enum(roomStatuses),
  owner_id: z.string(),
  room_mode: mode,
  attendee_max: z.int(),
  max_audio: z.int(),
  max_video: z.int(),
  has_host_password: z.boolean(),
  /**
   * Whether the room can be joined by number, as chosen by the operator. `open_to_number`: the effective value, which
   * may come from the site's setting.
   */
  entry_by_number: z.enum(entriesByNumber),
  open_to_number: z.boolean(),
  /** Whether the room has a waiting room. */
  waiting_room: z.boolean(),
  /** Schedule of the room; null: the room is always open. */
  schedule: roomScheduleSchema.nullable(),
  /** Meeting for which the room is open, otherwise the next one; null: no schedule, or no further meeting. */
  meeting: roomMeeting
    .extend({
      /** Whether people may join now. */
      open: z.boolean(),
      /** Time from which people may join; in the past while the room is open. */
      opens_at: moment,
      /** Latest time at which the room closes; 0: it does not close before the next meeting. */
      closes_at: moment,
    })
    .nullable(),
  room_extend_id: z.string(),
  tags: z.array(z.string()),
  node: z.string(),
  /** Secondary nodes, which serve some of the room's users. */
  branches: z.array(z.string()),
  /** Number of people in the room, without devices. */
  people: z.int(),
  /** Number of participants in the room, including joined devices. */
  users: z.int(),
  /** Number of devices of the room, joined or not. */
  devices: z.int(),
  /** Time at which the first person of the current meeting joined; 0: the room is empty. */
  meeting_since: moment,
  /** Number of people waiting to be admitted. */
  waiting: z.int(),
  /** Number of people who have raised a hand. */
  hands: z.int(),
  created_by: z.string(),
  created_at: moment,
  version: recordVersion,
})
export type RoomView = z.output<typeof roomView>

export const roomUserView = z.strictObject({
  user_id: z.string(),
  user_name: z.string(),
  device: z.boolean(),
  role: z.enum(['host', 'member']),
  /** Whether the user joined with only the room's number, without a link or the host password. */
  by_number: z.boolean(),
  /** Position of the raised hand: hands with lower values were raised earlier. 0: not raised. */
  hand: z.int(),
  joined_at: moment,
})
export type RoomUserView = z.output<typeof roomUserView>
export const editableRoomFields = {
  topic: nameBytes(1, limits.topic),
  host_password: bytes(0, limits.hostPassword),
  max_video: z.int().min(0).max(limits.maxStreams),
  max_audio: z.int().min(0).max(limits.maxStreams),
  attendee_max: z.int().min(1).max(limits.maxAttendees),
  room_mode: mode,
  /** `on`: the room's number is enough to join. `inherit`: the site's setting `media.open_rooms` applies. */
  entry_by_number: z.enum(entriesByNumber),
  /** Whether users wait for admission by a host. Cameras and hosts do not have to wait. */
  waiting_room: z.boolean(),
  /** Times at which the room is open; null: always. */
  schedule: roomScheduleSchema.nullable(),
}
export const roomCreateInput = z.strictObject({
  topic: editableRoomFields.topic,
  owner_id: nameBytes(1, limits.ownerId).default('operator'),
  room_mode: mode.default(1),
  host_password: editableRoomFields.host_password.optional(),
  max_video: editableRoomFields.max_video.optional(),
  max_audio: editableRoomFields.max_audio.optional(),
  attendee_max: editableRoomFields.attendee_max.optional(),
  entry_by_number: editableRoomFields.entry_by_number.optional(),
  waiting_room: editableRoomFields.waiting_room.optional(),
  schedule: roomScheduleSchema.optional(),
  room_extend_id: nameBytes(1, limits.roomExtendId).optional(),
  tags: tagsSchema.optional(),
})

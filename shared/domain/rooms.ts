import { z } from 'zod'
import { limits } from '../limits.ts'
import { bytes, nameBytes } from '../operation.ts'
import { entriesByNumber } from '../room-entry.ts'
import { roomScheduleSchema } from '../schedule/room-schedule.ts'
import { tagsSchema } from '../tags.ts'
import { recordVersion } from './record-version.ts'
import { moment } from './outcome.ts'

/** In the order of room_status 0..3 (contract, section 3). */
export const roomStatuses = ['scheduled', 'open', 'locked', 'closed'] as const
export type RoomStatus = (typeof roomStatuses)[number]
const mode = z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)])
export const roomMeeting = z.strictObject({ start: moment, end: moment })

/** A room in a list. */
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
  /** Whether the room can be joined by number: the operator's choice, and the effective value with the site's setting. */
  entry_by_number: z.enum(entriesByNumber),
  open_to_number: z.boolean(),
  /** The room has a waiting room. */
  waiting_room: z.boolean(),
  /** null: the room has none, and is always open. */
  schedule: roomScheduleSchema.nullable(),
  /** The meeting that the room is open for, else the next one; null: no schedule, or no further meeting. */
  meeting: roomMeeting
    .extend({
      /** People may join now. */
      open: z.boolean(),
      /** When people may join; in the past while it is open. */
      opens_at: moment,
      /** When the room closes at the latest; 0: not before the meeting after it. */
      closes_at: moment,
    })
    .nullable(),
  room_extend_id: z.string(),
  tags: z.array(z.string()),
  node: z.string(),
  /** Further nodes that hold it for some of its users. */
  branches: z.array(z.string()),
  /** People in the room: cameras and other outgoing users are not among them. */
  people: z.int(),
  /** Everybody in the room, joined outgoing users included. */
  users: z.int(),
  /** Outgoing users of the room, whether they have joined or not. */
  devices: z.int(),
  /** Time when the first person of the meeting in progress joined; 0: the room is empty. */
  meeting_since: moment,
  /** People who wait to be let in. */
  waiting: z.int(),
  /** People with a raised hand. */
  hands: z.int(),
  created_by: z.string(),
  created_at: moment,
  version: recordVersion,
})
export type RoomView = z.output<typeof roomView>

/** A user in a room. */
export const roomUserView = z.strictObject({
  user_id: z.string(),
  user_name: z.string(),
  device: z.boolean(),
  role: z.enum(['host', 'member']),
  /** Joined by the room's number alone, without a link or the host password. */
  by_number: z.boolean(),
  /** Order of the raised hand: lower means earlier. 0: not raised. */
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
  /** `on`: everybody with the room's number may join. `inherit`: the site's setting `media.open_rooms`. */
  entry_by_number: z.enum(entriesByNumber),
  /** Users wait for admission by a host; cameras and hosts do not. */
  waiting_room: z.boolean(),
  /** When the room is open; null: always. */
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

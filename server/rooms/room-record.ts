import type { EntryByNumber } from '../../shared/room-entry.ts'
import type { RoomSchedule } from '../../shared/schedule/room-schedule.ts'
import type { Settings } from '../../shared/settings.ts'
import type { StoredRoom } from '../store/records.ts'
import { tagField } from './tags.ts'

/** Room as specified by a caller; absent fields take the defaults of the settings. */
export interface NewRoom {
  topic: string
  owner_id: string
  room_mode: StoredRoom['room_mode']
  host_password?: string | undefined
  max_video?: number | undefined
  max_audio?: number | undefined
  attendee_max?: number | undefined
  room_extend_id?: string | undefined
  entry_by_number?: EntryByNumber | undefined
  waiting_room?: boolean | undefined
  schedule?: RoomSchedule | undefined
  tags?: readonly string[] | undefined
}

/** Fields of a room that can be changed. */
export interface RoomChanges {
  topic?: string | undefined
  host_password?: string | undefined
  max_video?: number | undefined
  max_audio?: number | undefined
  attendee_max?: number | undefined
  room_mode?: StoredRoom['room_mode'] | undefined
  entry_by_number?: EntryByNumber | undefined
  waiting_room?: boolean | undefined
  /** New schedule; null: removes the schedule. */
  schedule?: RoomSchedule | null | undefined
}

/** Returns the record with a changed schedule; null: removes the schedule, undefined: keeps it. */
export function scheduledFrom(room: StoredRoom, schedule: RoomSchedule | null | undefined): StoredRoom {
  if (schedule === undefined) return room
  if (schedule !== null) return { ...room, schedule }
  const { schedule: _, schedule_mark: _mark, ...unscheduled } = room
  return unscheduled
}

/** Returns the fields of a record that control entry. Omits unspecified fields. */
export function roomEntryOf({
  entry_by_number,
  waiting_room,
}: Pick<RoomChanges, 'entry_by_number' | 'waiting_room'>): Pick<StoredRoom, 'entry_by_number' | 'waiting_room'> {
  return {
    ...(entry_by_number === undefined ? {} : { entry_by_number }),
    ...(waiting_room === undefined ? {} : { waiting_room }),
  }
}

/** Values of a new record that the caller does not specify. */
interface NewRoomValues {
  id: number
  roomId: string
  defaults: Settings['room_defaults']
  /** Sealed host password; empty: none. */
  sealedPassword: string
  /** access_key of the credential; empty: the operator. */
  createdBy: string
  /** Creation time, in milliseconds since the epoch. */
  at: number
}

/** Returns the record of a new room, to which no MCU has been assigned yet. */
export function newRecord(
  wanted: NewRoom,
  { id, roomId, defaults, sealedPassword, createdBy, at }: NewRoomValues,
): StoredRoom {
  const room: StoredRoom = {
    id,
    room_id: roomId,
    // Only clients of the original platform may omit the topic.
    topic: wanted.topic || `Room ${roomId}`,
    owner_id: wanted.owner_id,
    host_password_sealed: sealedPassword,
    attendee_max: wanted.attendee_max ?? defaults.attendee_max,
    max_audio: wanted.max_audio ?? defaults.max_audio,
    max_video: wanted.max_video ?? defaults.max_video,
    room_extend_id: wanted.room_extend_id ?? '',
    room_mode: wanted.room_mode,
    locked: false,
    closed: false,
    node: '',
    created_by: createdBy,
    created_at: at,
  }
  // Spreading these rarely used fields into the literal would cost more than all other fields together.
  if (wanted.entry_by_number !== undefined) room.entry_by_number = wanted.entry_by_number
  if (wanted.waiting_room !== undefined) room.waiting_room = wanted.waiting_room
  if (wanted.schedule !== undefined) room.schedule = wanted.schedule
  return wanted.tags === undefined ? room : Object.assign(room, tagField(wanted.tags))
}

/** Whether a change left every field unchanged, so that nothing has to be stored or sent. */
export function sameRecord(one: StoredRoom, other: StoredRoom): boolean {
  if (one === other) return true
  return Object.keys({ ...one, ...other }).every((field) => Reflect.get(one, field) === Reflect.get(other, field))
}

/** Returns the name of the lock held by every change of a room or of its devices. */
export function lockOf(roomId: string): string {
  return `rooms/${roomId}`
}

import type { StoredRoom } from '../store/records.ts'

/** A room as a caller asks for it; what is left out takes the defaults of the settings. */
export interface NewRoom {
  topic: string
  owner_id: string
  room_mode: StoredRoom['room_mode']
  host_password?: string | undefined
  max_video?: number | undefined
  max_audio?: number | undefined
  attendee_max?: number | undefined
  room_extend_id?: string | undefined
}

/** What may be changed of a room. */
export interface RoomChanges {
  topic?: string | undefined
  host_password?: string | undefined
  max_video?: number | undefined
  max_audio?: number | undefined
  attendee_max?: number | undefined
  room_mode?: StoredRoom['room_mode'] | undefined
}

/** Whether a change left every field as it was: then nothing needs to be stored or told. */
export function sameRecord(one: StoredRoom, other: StoredRoom): boolean {
  if (one === other) return true
  return Object.entries(one).every(([field, value]) => Reflect.get(other, field) === value)
}

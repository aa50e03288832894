import { z } from 'zod'
import { limits } from '../limits.ts'
import { nameBytes } from '../operation.ts'
import { recordVersion } from './record-version.ts'
import { moment } from './outcome.ts'
import { roomCreateInput } from './rooms.ts'

export const id = z.string().min(1).max(64)
export const name = nameBytes(1, limits.label)

/** Settings of a room that a template keeps: neither number and schedule, which are one room's own, nor the host password. */
export const settings = roomCreateInput
  .pick({
    owner_id: true,
    room_mode: true,
    max_video: true,
    max_audio: true,
    attendee_max: true,
    entry_by_number: true,
    waiting_room: true,
    tags: true,
  })
  .extend({ topic: nameBytes(0, limits.topic).default('') })
export type TemplateSettings = z.output<typeof settings>

/** Settings under a name, from which rooms are created. */
export const roomTemplate = z.strictObject({
  id,
  name: z.string(),
  settings,
  changed_at: moment,
  version: recordVersion,
})
export type RoomTemplate = z.output<typeof roomTemplate>

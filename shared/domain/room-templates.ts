import { z } from 'zod'
import { limits } from '../limits.ts'
import { nameBytes } from '../operation.ts'
import { recordVersion } from './record-version.ts'
import { moment } from './outcome.ts'
import { roomCreateInput } from './rooms.ts'

export const templateId = z.string().min(1).max(64)
export const templateName = nameBytes(1, limits.label)

/**
 * Settings of a room that a template stores. Excludes number and schedule, which are specific to one room, and the host
 * password.
 */
export const templateSettings = roomCreateInput
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
export type TemplateSettings = z.output<typeof templateSettings>

/** Named settings from which rooms are created. */
export const roomTemplate = z.strictObject({
  id: templateId,
  name: z.string(),
  settings: templateSettings,
  changed_at: moment,
  version: recordVersion,
})
export type RoomTemplate = z.output<typeof roomTemplate>

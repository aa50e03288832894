import { z } from 'zod'
import { limits } from '../limits.ts'
import { nameBytes } from '../operation.ts'
import { edit, recordVersion, seenVersion } from './edit.ts'
import { done, moment, nothing, procedure } from './procedure.ts'
import { roomCreateInput } from './rooms.ts'

const id = z.string().min(1).max(64)
const name = nameBytes(1, limits.label)

/** Settings of a room that a template keeps: neither number and schedule, which are one room's own, nor the host password. */
const settings = roomCreateInput
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
const roomTemplate = z.strictObject({ id, name: z.string(), settings, changed_at: moment, version: recordVersion })
export type RoomTemplate = z.output<typeof roomTemplate>

/** Procedures about templates of rooms. */
export const templateProcedures = {
  'templates.list': procedure('Templates of rooms, by name.', nothing, z.array(roomTemplate)),
  'templates.save': edit(
    'Save a template of rooms. Without an id it is a new one; with an id, what is left out stays.',
    z.union([
      z.strictObject({ name, settings, ...seenVersion }),
      z.strictObject({ id, name: name.optional(), settings: settings.optional(), ...seenVersion }),
    ]),
    roomTemplate,
    (input) => ('id' in input ? { kind: 'template', key: input.id } : undefined),
  ),
  'templates.remove': procedure('Delete a template. Rooms made from it stay.', z.strictObject({ id }), done),
}

import { z } from 'zod'
import { limits } from '../limits.ts'
import { nameBytes } from '../operation.ts'
import { recordVersion, seenVersion } from './edit.ts'
import { change, read } from './declare.ts'
import { done, moment, nothing } from './procedure.ts'
import { operator, viewer } from './procedure-access.ts'
import { byImplementation, changes } from './procedure-events.ts'
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
  'templates.list': read({
    summary: 'Templates of rooms, by name.',
    input: nothing,
    output: z.array(roomTemplate),
    access: viewer('rooms:read'),
  }),
  'templates.save': change({
    summary: 'Save a template of rooms. Without an id it is a new one; with an id, what is left out stays.',
    input: z.union([
      z.strictObject({ name, settings, ...seenVersion }),
      z.strictObject({ id, name: name.optional(), settings: settings.optional(), ...seenVersion }),
    ]),
    output: roomTemplate,
    edits: (input) => ('id' in input ? { kind: 'template', key: input.id } : undefined),
    access: operator('rooms:write'),
    event: { records: ['template'], facts: byImplementation },
  }),
  'templates.remove': change({
    summary: 'Delete a template. Rooms made from it stay.',
    input: z.strictObject({ id }),
    output: done,
    access: operator('rooms:write'),
    event: changes('template'),
  }),
}

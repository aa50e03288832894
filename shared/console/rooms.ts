import { z } from 'zod'
import { limits } from '../limits.ts'
import { bytes } from '../operation.ts'
import { roomScheduleSchema } from '../schedule/room-schedule.ts'
import { knownTags, tagsSchema } from '../tags.ts'
import { seenVersion } from '../domain/record-version.ts'
import { act, change, read } from './declare.ts'
import { bulkOutcome, done, moment, emptyOutcome } from '../domain/outcome.ts'
import { operator, person, viewer } from './procedure-access.ts'
import { changes, subject } from './procedure-events.ts'
import type { RecordRef } from '../domain/record-fields.ts'
import { bulkTagged, tagChangesOf } from './tags.ts'
import { bulkDeleted } from './trash.ts'
import {
  editableRoomFields,
  roomMeeting,
  roomCreateInput,
  roomStatuses,
  roomUserView,
  roomView,
} from '../domain/rooms.ts'
import { roomId } from '../domain/ids.ts'
const key = z.strictObject({ room_id: roomId })
const userKey = key.extend({ user_id: bytes(1, limits.userId) })
const keys = z.strictObject({ room_ids: z.array(roomId).min(1).max(10_000) })

const roomOf = ({ room_id }: { room_id: string }): RecordRef => ({ kind: 'room', key: room_id })

/** Filter of rooms; absent fields match all rooms. */
const roomFilter = {
  /** Text to find in room_id, topic, owner_id, tags; case-insensitive. */
  search: z.string().max(200).default(''),
  status: z.array(z.enum(roomStatuses)).max(4).default([]),
  node: z.string().max(limits.nodeName).optional(),
  scheduled: z.boolean().default(false),
  /** Tags that a room must have, all of them; empty: no condition. */
  tags: tagsSchema.default([]),
  room_ids: z.array(roomId).max(limits.favourites).optional(),
}

export const roomProcedures = {
  'rooms.list': read({
    summary: 'Rooms that match, newest first or sorted, a page of them.',
    input: z.strictObject({
      ...roomFilter,
      untagged: z.boolean().default(false),
      sort: z.enum(['id', 'topic', 'people', 'users', 'room_id']).default('id'),
      descending: z.boolean().default(true),
      offset: z.int().min(0).default(0),
      limit: z.int().min(0).max(limits.pageSize).default(100),
    }),
    output: z.strictObject({
      total: z.int(),
      /** Number of all rooms of the site. */
      all: z.int(),
      items: z.array(roomView),
    }),
    access: viewer('rooms:read'),
    refreshOn: ['rooms.changed'],
  }),
  'rooms.groups': read({
    summary:
      'Tags of the rooms that match, by name, with the number of rooms of each; `rooms.list` with the tag, or `untagged`, reads the rooms of one.',
    input: z.strictObject(roomFilter),
    output: z.strictObject({
      /** Number of matching rooms; a room with several tags counts once. */
      total: z.int(),
      /** Number of all rooms of the site. */
      all: z.int(),
      groups: knownTags,
      untagged: z.int(),
    }),
    access: viewer('rooms:read'),
    refreshOn: ['rooms.changed'],
  }),
  'rooms.get': read({
    summary: 'One room with its people and devices.',
    input: key,
    output: z.strictObject({ room: roomView, users: z.array(roomUserView), addr: z.string() }),
    access: viewer('rooms:read'),
    refreshOn: ['rooms.changed'],
  }),
  'rooms.reveal_password': act({
    summary: 'Show the host password.',
    input: key,
    output: z.strictObject({ host_password: z.string() }),
    // Operators may not call this: they can set a new password and create host links instead.
    access: person('admin'),
    event: { subjects: ({ room_id }) => [subject.room(room_id)], kind: 'secret.shown' },
  }),
  'rooms.create': change({
    summary: 'Make a room.',
    input: roomCreateInput,
    output: roomView,
    access: operator('rooms:write'),
    event: changes('room'),
  }),
  'rooms.update': change({
    summary: 'Change a room.',
    input: key.extend({ ...z.strictObject(editableRoomFields).partial().shape, ...seenVersion }),
    output: roomView,
    edits: roomOf,
    access: operator('rooms:write'),
    event: changes('room'),
  }),
  'rooms.tags': read({
    summary: 'Tags of the rooms, by name, with the number of rooms of each.',
    input: emptyOutcome,
    output: knownTags,
    access: viewer('rooms:read'),
    refreshOn: ['rooms.changed'],
  }),
  'rooms.set_tags': change({
    summary: 'Set the tags of a room.',
    input: key.extend({ tags: tagsSchema, ...seenVersion }),
    output: roomView,
    edits: roomOf,
    access: operator('rooms:write'),
    event: changes('room'),
  }),
  'rooms.change_tags': change({
    summary: 'Add tags to rooms and remove tags from them. `undo` of the output is the input that undoes it.',
    input: tagChangesOf('room_ids', roomId, 10_000),
    output: bulkTagged('room_ids'),
    access: operator('rooms:write'),
    event: changes('room'),
  }),
  'rooms.lock': change({
    summary: 'Nobody new may join.',
    input: keys,
    output: bulkOutcome,
    access: operator('rooms:write'),
    event: changes('room'),
  }),
  'rooms.unlock': change({
    summary: 'People may join again.',
    input: keys,
    output: bulkOutcome,
    access: operator('rooms:write'),
    event: changes('room'),
  }),
  'rooms.close': change({
    summary: 'Take everybody out; nobody may join until it is reopened.',
    input: keys,
    output: bulkOutcome,
    access: operator('rooms:write'),
    event: changes('room'),
  }),
  'rooms.reopen': change({
    summary: 'People may join again.',
    input: keys,
    output: bulkOutcome,
    access: operator('rooms:write'),
    event: changes('room'),
  }),
  'rooms.open_now': change({
    summary: 'Open a scheduled room for its next meeting, before the time of it.',
    input: key,
    output: roomView,
    access: operator('rooms:write'),
    event: { collection: 'rooms', subjects: ({ room_id }) => [subject.room(room_id)] },
  }),
  'rooms.end_now': change({
    summary: 'End the meeting of a scheduled room before its end; everybody is removed.',
    input: key,
    output: roomView,
    access: operator('rooms:write'),
    event: { collection: 'rooms', subjects: ({ room_id }) => [subject.room(room_id)] },
  }),
  'rooms.coming': read({
    summary: 'The next meeting of each scheduled room that starts before a moment, the first one first.',
    input /** Default of `before`: a day from now. */: z.strictObject({
      before: moment.optional(),
      limit: z.int().min(1).max(20).default(5),
    }),
    output: z.array(roomMeeting.extend({ room_id: z.string(), topic: z.string() })),
    access: viewer('rooms:read'),
    refreshOn: ['rooms.changed'],
  }),
  'rooms.preview_schedule': read({
    summary: 'The next meetings of a schedule that is not saved yet; empty: none is still to come.',
    input: roomScheduleSchema,
    output: z.array(roomMeeting),
    access: operator('rooms:write'),
  }),
  'rooms.delete': change({
    summary: 'Delete them; everybody in them and their outgoing users are removed.',
    input: keys,
    output: bulkDeleted,
    access: operator('rooms:write'),
    event: changes('room'),
  }),
  'rooms.kick': change({
    summary: 'Remove a user from the room.',
    input: userKey,
    output: done,
    access: operator('rooms:write'),
    // The removal has been stored in the room's record when the person has left.
    event: {
      collection: 'rooms',
      subjects: ({ user_id }) => [subject.person(user_id)],
      room: ({ room_id }) => room_id,
    },
  }),
  'rooms.mute': act({
    summary: 'Mute the microphone of a person, who can unmute it again.',
    input: userKey,
    output: done,
    access: operator('rooms:write'),
    event: { subjects: ({ user_id }) => [subject.person(user_id)], room: ({ room_id }) => room_id },
  }),
  'rooms.stop_camera': act({
    summary: 'Turn the camera of a person off, who can turn it on again.',
    input: userKey,
    output: done,
    access: operator('rooms:write'),
    event: { subjects: ({ user_id }) => [subject.person(user_id)], room: ({ room_id }) => room_id },
  }),
}

import { z } from 'zod'
import { shortcoming } from '../media/transcoding.ts'
import { objectProblems } from '../recordings/object-storage.ts'
import { objectStorageSchema } from '../settings/recording.ts'
import { recordingRuleSchema } from '../recordings/recording-rule.ts'
import { limits } from '../limits.ts'
import { recordVersion, seenVersion } from '../domain/record-version.ts'
import { act, change, read } from './declare.ts'
import { moment, emptyOutcome } from '../domain/outcome.ts'
import { operator, person, viewer } from './procedure-access.ts'
import { changes, recordedAs, subject } from './procedure-events.ts'
import {
  keptSpan,
  lackingSpan,
  recordedSpan,
  recordingGap,
  recordingSource,
  recordingStatus,
  recordingStream,
  recordingTarget,
} from '../domain/recordings.ts'
import { roomId, userId } from '../domain/ids.ts'

/** Streams and a span of time; recordings that overlap the span match. */
const span = {
  streams: z.array(recordingStream).min(1).max(100),
  from: moment.min(0),
  to: moment.min(0),
}

/** Target of a recording; without `user_id`: the whole room. */
const target = z.strictObject({
  room_id: roomId,
  user_id: userId.optional(),
})

const ruleOf = z.strictObject({
  rule: recordingRuleSchema.nullable(),
  /** Rule that applies: `rule`, or the site's default if that is null. */
  effective: recordingRuleSchema,
  /** Whether the node of the room can record; false: see `problem`. */
  possible: z.boolean(),
  /** Reason why recording is impossible, in English; empty: none. */
  problem: z.string(),
  /** Node of the room; empty: none is assigned yet. */
  node: z.string(),
  version: recordVersion,
})
export type RecordingRuleView = z.output<typeof ruleOf>

const changedSegments = z.strictObject({ segments: z.int(), bytes: z.int() })

export const recordingProcedures = {
  'recordings.sources': read({
    summary: 'Streams of which there are recordings, the newest first, a page of them.',
    input: z.strictObject({
      /** Text to find in name, topic or number; case-insensitive. */
      search: z.string().max(200).default(''),
      room_ids: z.array(roomId).max(limits.favourites).optional(),
      /** true: only cameras; false: only people; undefined: both. */
      device: z.boolean().optional(),
      /** Start of the span in which the streams must have recordings; undefined: no limit. */
      from: moment.optional(),
      to: moment.optional(),
      offset: z.int().min(0).default(0),
      limit: z.int().min(0).max(limits.pageSize).default(100),
    }),
    output: z.strictObject({ total: z.int(), items: z.array(recordingSource) }),
    // Viewers receive only streams that the setting `recording.viewers` allows.
    access: viewer('recordings:read'),
    refreshOn: ['recordings.changed'],
  }),
  'recordings.segments': read({
    summary: 'Time line of some streams: recorded spans and gaps, at most 31 days.',
    input: z.strictObject({
      ...span,
      /** Maximum distance of spans that are merged, in milliseconds. */
      merge_ms: z.int().min(0).max(3_600_000).default(1_500),
    }),
    output: z.strictObject({
      items: z.array(
        recordingStream.extend({
          spans: z.array(recordedSpan),
          gaps: z.array(recordingGap),
          lacks: z.array(lackingSpan),
          /** Whether more spans exist than were returned; a shorter span must be requested. */
          more: z.boolean(),
        }),
      ),
    }),
    access: viewer('recordings:read'),
    refreshOn: ['recordings.changed'],
  }),
  'recordings.pieces': read({
    summary: 'Segments of one stream as they lie on the disk, oldest first.',
    input: z.strictObject({
      stream: recordingStream,
      from: moment.min(0),
      to: moment.min(0),
      limit: z.int().min(1).max(2_000).default(500),
    }),
    output: z.strictObject({
      items: z.array(
        z.strictObject({
          id: z.int(),
          from: moment,
          to: moment,
          bytes: z.int(),
          container: z.string(),
          video_codec: z.string(),
          audio_codec: z.string(),
          width: z.int(),
          height: z.int(),
          kept: z.boolean(),
          end: z.string(),
          /** Tracks of the source that are missing in the segment. */
          lacks: z.array(shortcoming),
        }),
      ),
      more: z.boolean(),
    }),
    access: viewer('recordings:read'),
  }),
  'recordings.keep': change({
    summary: 'Keep a span whatever the retention.',
    input: z.strictObject({ ...span, note: z.string().max(500).default('') }),
    output: keptSpan.extend(changedSegments.shape),
    access: operator('recordings:write'),
    event: {
      collection: 'recording_keeps',
      subjects: ({ streams }) => [...new Set(streams.map(({ room_id }) => room_id))].map(subject.room),
      facts: ({ from, to, note }) => ({ from, to, note }),
    },
  }),
  'recordings.unkeep': change({
    summary: 'The retention applies to a span again.',
    input: z.strictObject({ id: z.string().min(1).max(64) }),
    output: changedSegments,
    access: operator('recordings:write'),
    event: { collection: 'recording_keeps', subjects: () => [subject.site] },
  }),
  'recordings.kept': read({
    summary: 'Spans that are kept, the newest first.',
    input: z.strictObject({ room_id: roomId.optional() }).default({}),
    output: z.strictObject({ items: z.array(keptSpan) }),
    access: viewer('recordings:read'),
  }),
  'recordings.delete': change({
    summary: 'Delete all segments that overlap a span for good, except kept ones and those being written.',
    input: z.strictObject(span),
    output: changedSegments.extend({
      /** Number of segments not deleted because they are kept. */
      kept: z.int(),
    }),
    access: operator('recordings:write'),
    event: recordedAs('recording.deleted'),
  }),
  'recordings.start': change({
    summary: 'Record a room, camera or person until it is stopped.',
    input: target,
    output: recordingTarget,
    access: operator('recordings:write'),
    event: recordedAs('recording.started'),
  }),
  'recordings.stop': change({
    summary: 'Stop what a button started; a rule goes on unless the answer says so.',
    input: target,
    output: z.strictObject({
      /** Whether recording has stopped; false: a rule continues it. */
      stopped: z.boolean(),
    }),
    access: operator('recordings:write'),
    event: recordedAs('recording.stopped'),
  }),
  'recordings.states': read({
    summary: 'What of these rooms is to be recorded now, and is; `streams` are those that are recorded now.',
    input: z.strictObject({ room_ids: z.array(roomId).max(limits.pageSize).optional() }).default({}),
    output: z.strictObject({ items: z.array(recordingTarget), streams: z.array(recordingStream) }),
    access: viewer('recordings:read'),
    refreshOn: ['recordings.changed'],
  }),
  'recordings.rule': read({
    summary: 'Rule of a room, camera or person.',
    input: target,
    output: ruleOf,
    access: viewer('recordings:read'),
    refreshOn: ['recordings.changed', 'rooms.changed', 'settings.changed'],
  }),
  'recordings.set_rule': change({
    summary: 'Change the rule of a room or camera; null: as the site says.',
    input: target.extend({ rule: recordingRuleSchema.nullable().optional(), ...seenVersion }),
    output: ruleOf,
    edits: ({ room_id, user_id }) =>
      user_id === undefined ? { kind: 'room', key: room_id } : { kind: 'device', key: user_id },
    access: operator('recordings:write'),
    event: changes('room', 'device'),
  }),
  'recordings.test_objects': act({
    summary:
      'Test object storage with these settings: lists the bucket, puts a small object, reads a part of it and deletes it.',
    input: objectStorageSchema,
    output: z.strictObject({
      /** Reason of the failure; null: all steps succeeded. */
      problem: z.enum(objectProblems).nullable(),
      /** Step that failed; null: none. */
      step: z.enum(['list', 'put', 'get', 'delete']).nullable(),
      /** Error name of the service, e.g. `AccessDenied`. */
      detail: z.string(),
      /** English sentence about the failure; empty: success. */
      message: z.string(),
      /** Duration of all steps, in milliseconds. */
      ms: z.int(),
    }),
    access: person('admin'),
    event: {
      subjects: () => [subject.settings],
      facts: ({ endpoint }) => ({ endpoint }),
    },
  }),
  'recordings.status': read({
    summary: 'Space, rate, what is recorded now, and problems.',
    input: emptyOutcome,
    output: recordingStatus,
    access: viewer('recordings:read'),
    refreshOn: ['recordings.changed'],
  }),
}

/** Rooms whose recordings or recording targets have changed. */
export const recordingsChanged = z.strictObject({
  room_ids: z.array(z.string()),
  /** Whether there are too many rooms to list. */
  all: z.boolean(),
})

import { z } from 'zod'
import { streamSources } from '../media/stream-source.ts'
import { shortcoming } from '../media/transcoding.ts'
import { objectProblems } from '../recordings/object-storage.ts'
import { objectStorageSchema } from '../settings/recording.ts'
import { gapReasons, recordedQualities } from '../recordings/segment.ts'
import { recordingRuleSchema } from '../recordings/recording-rule.ts'
import { limits } from '../limits.ts'
import { bytes } from '../operation.ts'
import { recordVersion, seenVersion } from './edit.ts'
import { act, change, read } from './declare.ts'
import { moment, nothing } from './procedure.ts'
import { operator, person, viewer } from './procedure-access.ts'
import { changes, recordedAs, subject } from './procedure-events.ts'

const roomId = bytes(1, limits.roomExtendId)
const userId = bytes(1, limits.userId)

/** A recorded stream, as the console names it. */
export const recordingStream = z.strictObject({
  room_id: roomId,
  user_id: userId,
  source: z.enum(streamSources).default('main'),
  quality: z.enum(recordedQualities).default('main'),
})
export type RecordingStream = z.output<typeof recordingStream>

/** A span of some streams, overlapping counts; milliseconds since the epoch. */
const span = {
  streams: z.array(recordingStream).min(1).max(100),
  from: moment.min(0),
  to: moment.min(0),
}

/** A recorded stream with its extent. */
const recordingSource = recordingStream.extend({
  user_name: z.string(),
  topic: z.string(),
  /** A camera, rather than a person. */
  device: z.boolean(),
  first_at: moment,
  last_at: moment,
  bytes: z.int(),
  segments: z.int(),
  /** It is being recorded now. */
  recording: z.boolean(),
  /** Its room, or for a camera the camera, still exists. */
  exists: z.boolean(),
})
export type RecordingSource = z.output<typeof recordingSource>

/** Segments that follow one another, as one. */
const recordedSpan = z.strictObject({
  from: moment,
  to: moment,
  segments: z.int(),
  bytes: z.int(),
  /** Kept whatever the retention. */
  kept: z.boolean(),
  /** It is still growing. */
  open: z.boolean(),
})
export type RecordedSpan = z.output<typeof recordedSpan>

/** A time in which nothing was recorded though it was to be; `to` null: it lasts. */
const recordingGap = z.strictObject({ from: moment, to: moment.nullable(), reason: z.enum(gapReasons) })
export type RecordingGap = z.output<typeof recordingGap>

/** A time in which recordings do not hold every track of their source. */
const lackingSpan = z.strictObject({ from: moment, to: moment, tracks: z.array(shortcoming) })
export type LackingSpan = z.output<typeof lackingSpan>

/** Span that is kept whatever the retention. */
const keptSpan = z.strictObject({
  id: z.string(),
  streams: z.array(recordingStream),
  from: moment,
  to: moment,
  note: z.string(),
  kept_by: z.string(),
  kept_at: moment,
})

/** Reasons of a recording: a rule, the button of an operator or of a host in the room, a client of an API, or an operator's order of files. */
const recordingStarters = ['rule', 'operator', 'host', 'client', 'order'] as const
export type RecordingStarter = (typeof recordingStarters)[number]

/** Whether somebody started the recording by a button, which stops it, too. */
export function isByHand(by: RecordingStarter): boolean {
  return by === 'operator' || by === 'host'
}

/** Reasons why something that is to be recorded is not. node: its node cannot record. off: the recordings folder cannot be used. storageLow: the disk is nearly full. away: it is not there. */
const recordingHindrances = ['node', 'off', 'storageLow', 'away'] as const
export type RecordingHindrance = (typeof recordingHindrances)[number]

/** A room, camera or person that is to be recorded now, or is recorded. */
const recordingTarget = z.strictObject({
  room_id: z.string(),
  /** Empty: the whole room. */
  user_id: z.string(),
  user_name: z.string(),
  topic: z.string(),
  device: z.boolean(),
  quality: z.enum(recordedQualities),
  by: z.enum(recordingStarters),
  /** Operator, host or client; empty for a rule. */
  started_by: z.string(),
  since: moment,
  /** Media is being written. */
  recording: z.boolean(),
  /** Why not; null: it is, or its first picture has not come yet. */
  hindrance: z.enum(recordingHindrances).nullable(),
})
export type RecordingTarget = z.output<typeof recordingTarget>

/** Target of a button. Without `user_id`: the whole room. */
const target = z.strictObject({
  room_id: roomId,
  user_id: userId.optional(),
})

const ruleOf = z.strictObject({
  rule: recordingRuleSchema.nullable(),
  /** The rule is in force; the site's default if it has none of its own. */
  effective: recordingRuleSchema,
  /** False: the node of its room cannot record; see `problem`. */
  possible: z.boolean(),
  /** English; the console words it by `hindrance`. */
  problem: z.string(),
  /** Node of the room; empty: none yet. */
  node: z.string(),
  /** Version of the room or device. */
  version: recordVersion,
})
export type RecordingRuleView = z.output<typeof ruleOf>

/** Problems of recording, for the status. */
const recordingProblems = [
  'folderMissing',
  'folderReadOnly',
  'folderOfOtherSite',
  'folderFailed',
  'indexRebuilding',
  'storageLow',
  'writeFailed',
  'filesMissing',
  'diskLate',
  'nodeCannotRecord',
  'objectsFailed',
] as const
export type RecordingProblem = (typeof recordingProblems)[number]

const recordingStatus = z.strictObject({
  /** Folder of the recordings. */
  folder: z.string(),
  /** The folder can be used. */
  usable: z.boolean(),
  bytes: z.int(),
  segments: z.int(),
  oldest_at: moment,
  newest_at: moment,
  /** Bytes of kept segments. */
  kept_bytes: z.int(),
  /** Free and total bytes of its file system, and the bytes that stay free. */
  free: z.int(),
  capacity: z.int(),
  reserve: z.int(),
  /** Bytes a second in the last minutes. */
  rate: z.number(),
  /** Days until the oldest are deleted for want of space at this rate; null: not at this rate. */
  days_until_full: z.number().nullable(),
  /** Age of the oldest media that a power cut would take besides a group of pictures, in milliseconds; 0: the disk keeps up. */
  disk_late_ms: z.int(),
  /** Number of streams that are written now. */
  streams: z.int(),
  /** Deleted files that still have to be removed from the disk. */
  deleting: z.int(),
  /** Progress of rebuilding the index; null: it is complete. */
  rebuilding: z.strictObject({ done: z.int(), total: z.int() }).nullable(),
  /** Object storage; null: it is not used, and nothing is there. */
  objects: z
    .strictObject({
      /** Finished segments are uploaded. */
      enabled: z.boolean(),
      /** Finished segments that are not uploaded, and the end of the oldest of them; 0: none waits. */
      waiting: z.int(),
      waiting_bytes: z.int(),
      oldest_at: moment,
      uploading: z.int(),
      /** Segments that are there, and of these the ones that are not on the local disk. */
      stored: z.int(),
      stored_bytes: z.int(),
      remote_only: z.int(),
      /** Objects of deleted segments that still have to be deleted. */
      deleting: z.int(),
      /** Why it cannot be used; null: it can, as far as is known. */
      problem: z.enum(objectProblems).nullable(),
      /** How the service calls it, e.g. `AccessDenied`. */
      detail: z.string(),
      /** Since when; 0: it can be used, or a single file failed. */
      since: moment,
    })
    .nullable(),
  targets: z.array(recordingTarget),
  problems: z.array(
    z.strictObject({
      code: z.enum(recordingProblems),
      /** Folder, node or room that it is about; of the object storage, the name of its problem. */
      subject: z.string(),
      message: z.string(),
      since: moment,
    }),
  ),
})
export type RecordingStatus = z.output<typeof recordingStatus>

/** Outcome of a change of segments. */
const changedSegments = z.strictObject({ segments: z.int(), bytes: z.int() })

export const recordingProcedures = {
  'recordings.sources': read({
    summary: 'Streams of which there are recordings, the newest first, a page of them.',
    input: z.strictObject({
      /** Text in name, topic or number; case-insensitive. */
      search: z.string().max(200).default(''),
      room_ids: z.array(roomId).max(limits.favourites).optional(),
      /** Only cameras, or only people. */
      device: z.boolean().optional(),
      /** Only those with recordings in this time. */
      from: moment.optional(),
      to: moment.optional(),
      offset: z.int().min(0).default(0),
      limit: z.int().min(0).max(limits.pageSize).default(100),
    }),
    output: z.strictObject({ total: z.int(), items: z.array(recordingSource) }),
    // Viewers see what the setting `recording.viewers` allows.
    access: viewer('recordings:read'),
  }),
  'recordings.segments': read({
    summary: 'Time line of some streams: recorded spans and gaps, at most 31 days.',
    input: z.strictObject({
      ...span,
      /** Spans closer than this become one, in milliseconds. */
      merge_ms: z.int().min(0).max(3_600_000).default(1_500),
    }),
    output: z.strictObject({
      items: z.array(
        recordingStream.extend({
          spans: z.array(recordedSpan),
          gaps: z.array(recordingGap),
          lacks: z.array(lackingSpan),
          /** There are more than shown: ask for a shorter time. */
          more: z.boolean(),
        }),
      ),
    }),
    access: viewer('recordings:read'),
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
          /** Tracks of the source that it does not hold. */
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
      /** Segments that stay because they are kept. */
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
      /** It is recorded no more; false: a rule records it. */
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
  }),
  'recordings.rule': read({
    summary: 'Rule of a room, camera or person.',
    input: target,
    output: ruleOf,
    access: viewer('recordings:read'),
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
      /** null: everything works. */
      problem: z.enum(objectProblems).nullable(),
      /** Step that failed; null: none. */
      step: z.enum(['list', 'put', 'get', 'delete']).nullable(),
      /** How the service calls it, e.g. `AccessDenied`. */
      detail: z.string(),
      /** One English sentence; empty: everything works. */
      message: z.string(),
      /** Time of all steps. */
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
    input: nothing,
    output: recordingStatus,
    access: viewer('recordings:read'),
  }),
}

/** Recordings or what is recorded changed. */
export const recordingsChanged = z.strictObject({
  room_ids: z.array(z.string()),
  /** Too many to name. */
  all: z.boolean(),
})

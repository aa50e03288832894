import { z } from 'zod'
import { streamSources } from '../media/stream-source.ts'
import { shortcoming } from '../media/transcoding.ts'
import { objectProblems } from '../recordings/object-storage.ts'
import { gapReasons, recordedQualities } from '../recordings/segment.ts'
import { moment } from './outcome.ts'
import { roomId, userId } from './ids.ts'

/** A recorded stream, as the console names it. */
export const recordingStream = z.strictObject({
  room_id: roomId,
  user_id: userId,
  source: z.enum(streamSources).default('main'),
  quality: z.enum(recordedQualities).default('main'),
})
export type RecordingStream = z.output<typeof recordingStream>

/** A recorded stream with its extent. */
export const recordingSource = recordingStream.extend({
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
export const recordedSpan = z.strictObject({
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
export const recordingGap = z.strictObject({ from: moment, to: moment.nullable(), reason: z.enum(gapReasons) })
export type RecordingGap = z.output<typeof recordingGap>

/** A time in which recordings do not hold every track of their source. */
export const lackingSpan = z.strictObject({ from: moment, to: moment, tracks: z.array(shortcoming) })
export type LackingSpan = z.output<typeof lackingSpan>

/** Span that is kept whatever the retention. */
export const keptSpan = z.strictObject({
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

/** Whether a person started the recording by a button, which also stops it. */
export function isByHand(by: RecordingStarter): boolean {
  return by === 'operator' || by === 'host'
}

/** Reasons why a wanted recording does not run. node: its node cannot record. off: the recordings folder cannot be used. storageLow: the disk is nearly full. away: nobody who is to be recorded is in the room. */
const recordingHindrances = ['node', 'off', 'storageLow', 'away'] as const
export type RecordingHindrance = (typeof recordingHindrances)[number]

/** A room, camera or person that is to be recorded now, or is recorded. */
export const recordingTarget = z.strictObject({
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
  /** Reason why it is not recorded; null: it is, or its first picture is pending. */
  hindrance: z.enum(recordingHindrances).nullable(),
})
export type RecordingTarget = z.output<typeof recordingTarget>

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
export const recordingStatus = z.strictObject({
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
      /** Reason why it cannot be used; null: none is known. */
      problem: z.enum(objectProblems).nullable(),
      /** Error code of the service, e.g. `AccessDenied`. */
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

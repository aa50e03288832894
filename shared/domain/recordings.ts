import { z } from 'zod'
import { streamSources } from '../media/stream-source.ts'
import { shortcoming } from '../media/transcoding.ts'
import { objectProblems } from '../recordings/object-storage.ts'
import { gapReasons, recordedQualities } from '../recordings/segment.ts'
import { moment } from './outcome.ts'
import { roomId, userId } from './ids.ts'

/** Recorded stream, as identified in the console. */
export const recordingStream = z.strictObject({
  room_id: roomId,
  user_id: userId,
  source: z.enum(streamSources).default('main'),
  quality: z.enum(recordedQualities).default('main'),
})
export type RecordingStream = z.output<typeof recordingStream>

/** Recorded stream, with the extent of its recordings. */
export const recordingSource = recordingStream.extend({
  user_name: z.string(),
  topic: z.string(),
  /** Whether the stream is from a camera; false: from a person. */
  device: z.boolean(),
  first_at: moment,
  last_at: moment,
  bytes: z.int(),
  segments: z.int(),
  /** Whether the stream is being recorded now. */
  recording: z.boolean(),
  /** Whether the camera, or the room of a person, still exists. */
  exists: z.boolean(),
})
export type RecordingSource = z.output<typeof recordingSource>

/** Consecutive segments merged into one span. */
export const recordedSpan = z.strictObject({
  from: moment,
  to: moment,
  segments: z.int(),
  bytes: z.int(),
  /** Whether the segments are kept regardless of the retention. */
  kept: z.boolean(),
  /** Whether the last segment is still being written. */
  open: z.boolean(),
})
export type RecordedSpan = z.output<typeof recordedSpan>

/** Span in which nothing was recorded although it should have been; `to` null: the gap continues. */
export const recordingGap = z.strictObject({ from: moment, to: moment.nullable(), reason: z.enum(gapReasons) })
export type RecordingGap = z.output<typeof recordingGap>

/** Span in which recordings lack tracks of their source. */
export const lackingSpan = z.strictObject({ from: moment, to: moment, tracks: z.array(shortcoming) })
export type LackingSpan = z.output<typeof lackingSpan>

/** Span that is kept regardless of the retention. */
export const keptSpan = z.strictObject({
  id: z.string(),
  streams: z.array(recordingStream),
  from: moment,
  to: moment,
  note: z.string(),
  kept_by: z.string(),
  kept_at: moment,
})

/**
 * Origins of a recording. `rule`: a recording rule; `operator`: an operator's button; `host`: a host's button in the
 * room; `client`: a client of an API; `order`: an operator's order of files.
 */
const recordingStarters = ['rule', 'operator', 'host', 'client', 'order'] as const
export type RecordingStarter = (typeof recordingStarters)[number]

/** Whether a person started the recording with a button, so that a button can also stop it. */
export function isByHand(by: RecordingStarter): boolean {
  return by === 'operator' || by === 'host'
}

/**
 * Reasons why a requested recording is not running. node: its node cannot record. off: the recordings folder is
 * unusable. storageLow: the disk is nearly full. away: none of the targets is in the room.
 */
const recordingHindrances = ['node', 'off', 'storageLow', 'away'] as const
export type RecordingHindrance = (typeof recordingHindrances)[number]

/** Room, camera or person that should be recorded or is being recorded. */
export const recordingTarget = z.strictObject({
  room_id: z.string(),
  /** User to record; empty: the whole room. */
  user_id: z.string(),
  user_name: z.string(),
  topic: z.string(),
  device: z.boolean(),
  quality: z.enum(recordedQualities),
  by: z.enum(recordingStarters),
  /** Operator, host or client that started the recording; empty: a rule. */
  started_by: z.string(),
  since: moment,
  /** Whether media is being written. */
  recording: z.boolean(),
  /** Reason why nothing is recorded; null: media is being written, or the first picture is pending. */
  hindrance: z.enum(recordingHindrances).nullable(),
})
export type RecordingTarget = z.output<typeof recordingTarget>

const recordingProblems = [
  'folderMissing',
  'folderReadOnly',
  'folderOfOtherSite',
  'folderFailed',
  'indexRebuilding',
  'storageLow',
  'writeFailed',
  'filesMissing',
  /** The disk writes recordings too slowly: a power cut would lose more than usual. */
  'diskLate',
  'nodeCannotRecord',
  'objectsFailed',
] as const
export type RecordingProblem = (typeof recordingProblems)[number]
export const recordingStatus = z.strictObject({
  folder: z.string(),
  usable: z.boolean(),
  bytes: z.int(),
  segments: z.int(),
  oldest_at: moment,
  newest_at: moment,
  /** Size of kept segments, in bytes. */
  kept_bytes: z.int(),
  /** Free bytes of the file system with the folder. `capacity`: its size; `reserve`: bytes to keep free. */
  free: z.int(),
  capacity: z.int(),
  reserve: z.int(),
  /** Average rate in the last minutes, in bytes per second. */
  rate: z.number(),
  /**
   * Number of days after which the oldest recordings will be deleted for lack of space; null: never at the current
   * rate.
   */
  days_until_full: z.number().nullable(),
  /**
   * Age of the oldest media not yet written to the disk, beyond one group of pictures, in milliseconds. A power failure
   * would destroy this media. 0: the disk is fast enough.
   */
  disk_late_ms: z.int(),
  /** Number of streams being written. */
  streams: z.int(),
  /** Number of deleted recordings whose files still have to be removed from the disk. */
  deleting: z.int(),
  /** Progress of rebuilding the index; null: the index is complete. */
  rebuilding: z.strictObject({ done: z.int(), total: z.int() }).nullable(),
  /** State of the object storage; null: it is off and contains no segments. */
  objects: z
    .strictObject({
      /** Whether finished segments are uploaded. */
      enabled: z.boolean(),
      /** Number of finished segments that are not uploaded yet. `oldest_at`: end of the oldest one; 0: none. */
      waiting: z.int(),
      waiting_bytes: z.int(),
      oldest_at: moment,
      uploading: z.int(),
      /** Number of segments in the storage. `remote_only`: number of those that are not on the local disk. */
      stored: z.int(),
      stored_bytes: z.int(),
      remote_only: z.int(),
      /** Number of objects that still have to be deleted because their segments were deleted. */
      deleting: z.int(),
      /** Reason why the storage is unusable; null: none is known. */
      problem: z.enum(objectProblems).nullable(),
      /** Error code of the service, e.g. `AccessDenied`. */
      detail: z.string(),
      /** Start of the problem; 0: the storage is usable, or only a single file failed. */
      since: moment,
    })
    .nullable(),
  targets: z.array(recordingTarget),
  problems: z.array(
    z.strictObject({
      code: z.enum(recordingProblems),
      /** Folder, node or room with the problem; for object storage, the name of the problem. */
      subject: z.string(),
      message: z.string(),
      since: moment,
    }),
  ),
})
export type RecordingStatus = z.output<typeof recordingStatus>

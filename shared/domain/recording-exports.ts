import { z } from 'zod'
import { moment } from './outcome.ts'
import { recordingStream } from './recordings.ts'

/**
 * Formats of an exported file; the first two require ffmpeg. mp4: MP4 with AAC; VP8 and changed formats are encoded as
 * H.264. compatible: H.265 is encoded as H.264, too. original: nothing is encoded; WebM for VP8.
 */
export const exportFormats = ['mp4', 'original', 'compatible'] as const
export type ExportFormat = (typeof exportFormats)[number]
const exportStates = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const
export type ExportState = (typeof exportStates)[number]

/** Reasons of failed exports, with their English sentences. The console has one in each language. */
export const exportFailures = {
  nothingRecorded: 'Nothing was recorded in this span.',
  filesLost: 'The files of these recordings are missing or damaged. The events say which.',
  diskFull: 'The disk is full. Choose a shorter span, or free space.',
  spaceNeeded: 'The recordings needed its disk space. Free space, then export again.',
  unreadable: 'A file could not be read or written. See the log of the controller.',
  storageAway: 'The object storage that holds the recordings is unavailable. Try again later.',
  conversion: 'ffmpeg could not convert the recording. Export it “as recorded”, or see the log of the controller.',
  encoderMissing: 'This ffmpeg has no encoder of H.264: install one with libx264, or export “as recorded”.',
  restarted: 'The controller was restarted, which deletes exports. Export again.',
  unexpected: 'Unexpected error. See the log of the controller.',
} as const
export type ExportFailure = keyof typeof exportFailures
export const exportFailureNames = Object.keys(exportFailures) as [ExportFailure, ...ExportFailure[]]

/** Maximum length of an exported span, in milliseconds: a day. */
export const maxExportMs = 86_400_000
export const exportView = z.strictObject({
  id: z.string(),
  state: z.enum(exportStates),
  /** Completed part, 0 to 1. */
  progress: z.number().min(0).max(1),
  streams: z.array(recordingStream),
  from: moment,
  to: moment,
  format: z.enum(exportFormats),
  /** As in `exports.start`. */
  keep_gaps: z.boolean().optional(),
  picture: z.boolean().optional(),
  sound: z.boolean().optional(),
  /** Name and size of the file, at `/recordings/exports/<id>` of the console port; empty until it is complete. */
  name: z.string(),
  bytes: z.int(),
  /** VP8 or a changed format was kept, because ffmpeg is missing. */
  unconverted: z.boolean(),
  /** Number of segments whose files are missing or damaged, so that they are not in the file. Undefined: none. */
  lost: z.int().optional(),
  /**
   * Reason of a failure; empty: none. A failed export stays listed for an hour, or until `exports.cancel` removes it.
   */
  error: z.string(),
  /** The reason as a name; undefined if it has not failed. */
  failure: z.enum(exportFailureNames).optional(),
  /** Time at which the file is deleted; 0: not complete yet. */
  expires_at: moment,
})
export type ExportView = z.output<typeof exportView>

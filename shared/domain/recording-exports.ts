import { z } from 'zod'
import { moment } from './outcome.ts'
import { recordingStream } from './recordings.ts'

/**
 * Formats of an exported file; `mp4` and `compatible` use ffmpeg to encode. mp4: MP4 with AAC; VP8, and streams whose
 * format changes, are encoded as H.264. compatible: additionally, H.265 is encoded as H.264. original: nothing is
 * encoded; WebM for VP8.
 */
export const exportFormats = ['mp4', 'original', 'compatible'] as const
export type ExportFormat = (typeof exportFormats)[number]
const exportStates = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const
export type ExportState = (typeof exportStates)[number]

/** English sentences for the reasons of failed exports. The console has a sentence for each reason in each language. */
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

/** Maximum length of an exported span, in milliseconds: one day. */
export const maxExportMs = 86_400_000
export const exportView = z.strictObject({
  id: z.string(),
  state: z.enum(exportStates),
  /** Completed share, 0 to 1. */
  progress: z.number().min(0).max(1),
  streams: z.array(recordingStream),
  from: moment,
  to: moment,
  format: z.enum(exportFormats),
  /** See `exports.start`. */
  keep_gaps: z.boolean().optional(),
  picture: z.boolean().optional(),
  sound: z.boolean().optional(),
  /** Name of the file, available at `/recordings/exports/<id>` of the console port; empty: not complete yet. */
  name: z.string(),
  bytes: z.int(),
  /** Whether VP8 or a changed format was not converted, because ffmpeg is missing. */
  unconverted: z.boolean(),
  /** Number of segments that the file lacks, because their files are missing or damaged; undefined: none. */
  lost: z.int().optional(),
  /**
   * English reason of a failure; empty: none. A failed export stays listed for an hour, or until `exports.cancel`
   * removes it.
   */
  error: z.string(),
  /** Name of the reason; undefined: the export has not failed. */
  failure: z.enum(exportFailureNames).optional(),
  /** Time at which the file will be deleted; 0: not complete yet. */
  expires_at: moment,
})
export type ExportView = z.output<typeof exportView>

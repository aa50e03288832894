import { z } from 'zod'
import { act, lasting, read } from './declare.ts'
import { done, moment, emptyOutcome } from '../domain/outcome.ts'
import { operator } from './procedure-access.ts'
import { recordedAs, unrecorded } from './procedure-events.ts'
import { recordingStream } from '../domain/recordings.ts'
import { exportFormats, exportView } from '../domain/recording-exports.ts'

export const recordingExportProcedures = {
  'exports.start': lasting({
    summary:
      'Export a span as a plain MP4; of several streams a zip with a file each and a time line. The file is kept for an hour.',
    input: z.strictObject({
      streams: z.array(recordingStream).min(1).max(100),
      from: moment.min(0),
      to: moment.min(0),
      format: z.enum(exportFormats).default('mp4'),
      /** Whether to keep gaps at their real length; the last picture stays visible during a gap. */
      keep_gaps: z.boolean().default(false),
      picture: z.boolean().default(true),
      sound: z.boolean().default(true),
    }),
    output: exportView,
    // The exported copy may outlive the retention of the recordings.
    access: operator('recordings:read'),
    tokens: true,
    // Only the account that started the export, signed in, can download the file, within a day.
    lifetime: () => 0,
    passedOn: true,
    event: recordedAs('recording.exported'),
  }),
  'exports.list': read({
    summary: "The caller's exports, the newest first.",
    input: emptyOutcome,
    output: z.strictObject({ items: z.array(exportView) }),
    access: operator('recordings:read'),
  }),
  'exports.cancel': act({
    summary: 'Stop an export, delete its file, or remove a failed one from the list.',
    input: z.strictObject({ id: z.string().min(1).max(64) }),
    output: done,
    access: operator('recordings:read'),
    event: unrecorded('removes a copy of the caller'),
  }),
}

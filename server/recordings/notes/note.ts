import { dirname } from 'node:path'
import { z } from 'zod'
import { segmentPath } from '../../../shared/recordings/segment-path.ts'
import {
  gapReasons,
  momentSchema,
  type RecordedStream,
  recordedQualities,
  segmentEnds,
} from '../../../shared/recordings/segment.ts'
import { streamSources } from '../../../shared/media/stream-source.ts'

/** File of the notes in the folder of a stream's day. */
export const notesFile = 'notes.jsonl'

/**
 * Line of the notes of a day: what the files of segments cannot say themselves. `stream` stands before the notes of each process; `gap` may last (null) until a
 * `gapEnded`, the next `gap`, or the next segment.
 */
export const noteSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('stream'),
    roomId: z.string().min(1).max(128),
    userId: z.string().min(1).max(128),
    source: z.enum(streamSources),
    quality: z.enum(recordedQualities),
    userName: z.string().max(256),
    topic: z.string().max(600),
    device: z.boolean(),
  }),
  /** A segment began: without an `ended`, its process or the controller was gone before its end. */
  z.strictObject({ type: z.literal('began'), file: z.string().min(1).max(64) }),
  z.strictObject({
    type: z.literal('ended'),
    /** Name in the folder of the day. */
    file: z.string().min(1).max(64),
    endedAt: momentSchema,
    end: z.enum(segmentEnds),
    /** It served live viewing only. */
    live: z.literal(true).optional(),
  }),
  z.strictObject({
    type: z.literal('gap'),
    from: momentSchema,
    to: momentSchema.nullable(),
    reason: z.enum(gapReasons),
  }),
  z.strictObject({ type: z.literal('gapEnded'), at: momentSchema }),
])
export type Note = z.output<typeof noteSchema>

/** Names of a stream. */
export interface StreamNames {
  userName: string
  topic: string
  device: boolean
}

/** Folder of a stream's day below the recordings folder. @param at milliseconds since the epoch */
export function dayFolder(stream: RecordedStream, at: number): string {
  return dirname(segmentPath(stream, at, 'mp4'))
}

import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { insideOf, type OwnPath } from '../../../shared/files/own-path.ts'
import { refuseLinks, removeInside } from '../../../shared/files/real-path.ts'
import { streamSources } from '../../../shared/media/stream-source.ts'
import { segmentPath } from '../../../shared/recordings/segment-path.ts'
import {
  gapReasons,
  momentSchema,
  recordedQualities,
  type RecordedStream,
  segmentEnds,
} from '../../../shared/recordings/segment.ts'

/** File with the notes in the folder of a stream's day. */
export const notesFile = 'notes.jsonl'

/**
 * Line in the notes of a day, with facts that the segment files cannot contain. `stream` precedes the notes of each
 * process. A `gap` without an end (null) lasts until a `gapEnded`, the next `gap`, or the next segment.
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
  /** A segment started. Without an `ended` note, its process or the controller stopped before its end. */
  z.strictObject({ type: z.literal('began'), file: z.string().min(1).max(64) }),
  z.strictObject({
    type: z.literal('ended'),
    /** File name in the folder of the day. */
    file: z.string().min(1).max(64),
    endedAt: momentSchema,
    end: z.enum(segmentEnds),
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

export interface StreamNames {
  userName: string
  topic: string
  device: boolean
}

/** Returns the folder of a stream's day, relative to the recordings folder. @param at milliseconds since the epoch */
export function dayFolder(stream: RecordedStream, at: number): string {
  return dirname(segmentPath(stream, at, 'mp4'))
}

const dayName = /^\d{4}-\d{2}-\d{2}$/

/**
 * Removes the oldest days of a stream that contain only notes and no recordings. Never rejects: remaining files are
 * removed by the next call.
 * @param recordings the recordings folder
 * @param folder folder of the stream inside `recordings`
 * @param before removes only days that end before this time; undefined: all
 */
export async function removeNotedDays(recordings: string, folder: OwnPath, before?: Date): Promise<void> {
  const limit = before?.toISOString().slice(0, 10)
  try {
    await refuseLinks(recordings, folder)
    const days = (await readdir(folder)).filter((name) => dayName.test(name)).sort()
    for (const day of days) {
      if (limit !== undefined && day >= limit) return
      const path = insideOf(folder, day)
      const names = await readdir(path)
      if (names.some((name) => name !== notesFile)) return
      await removeInside(recordings, path, { recursive: true })
    }
  } catch {
    // The disk failed, or a recording was added meanwhile.
  }
}

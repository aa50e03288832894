import type { SQLOutputValue } from 'node:sqlite'
import { z } from 'zod'
import {
  type Gap,
  gapReasons,
  momentSchema,
  recordedQualities,
  type RecordedStream,
  segmentContainers,
  segmentEnds,
  storedFactsSchema,
} from '../../../shared/recordings/segment.ts'
import { isRecordedPath } from '../../../shared/files/recorded-path.ts'
import { segmentPath, withPath } from '../../../shared/recordings/segment-path.ts'
import { streamSources } from '../../../shared/media/stream-source.ts'
import { type Shortcoming, shortcoming } from '../../../shared/media/transcoding.ts'
import type { IndexedSegment, OpenIndexEntry, RecordedSource } from '../recording-index.ts'

export type Row = Record<string, SQLOutputValue>

const storedPlaces = ['local', 'both', 'remote'] as const

/** Columns of `streams` that identify a stream. */
export const streamColumns = 'streams.room_id, streams.user_id, streams.source, streams.quality'
/** Query of complete segments, to which conditions are appended. */
export const wholeSegment = `SELECT segments.*, ${streamColumns}, forms.container, forms.video_codec, forms.audio_codec, forms.width, forms.height, forms.user_name, forms.topic, forms.device, lacks.tracks
  FROM segments JOIN streams ON streams.id = segments.stream JOIN forms ON forms.id = segments.form LEFT JOIN lacks ON lacks.id = segments.lack`

export function streamOf(row: Row): RecordedStream {
  return {
    roomId: text(row, 'room_id'),
    userId: text(row, 'user_id'),
    source: oneOf(streamSources, text(row, 'source')),
    quality: oneOf(recordedQualities, text(row, 'quality')),
  }
}

export function segmentOf(row: Row): IndexedSegment {
  const stream = streamOf(row)
  const startedAt = moment(row, 'started_at')
  const container = oneOf(segmentContainers, text(row, 'container'))
  const { sender_offset: offset, file } = row
  return {
    ...stream,
    id: number(row, 'id'),
    file: file === null ? segmentPath(stream, startedAt, container) : storedPath(file),
    container,
    userName: text(row, 'user_name'),
    topic: text(row, 'topic'),
    device: number(row, 'device') === 1,
    startedAt,
    senderStartedAt: typeof offset === 'number' ? startedAt + offset : null,
    videoCodec: text(row, 'video_codec'),
    audioCodec: text(row, 'audio_codec'),
    width: number(row, 'width'),
    height: number(row, 'height'),
    endedAt: moment(row, 'ended_at'),
    bytes: number(row, 'bytes'),
    end: oneOf(segmentEnds, text(row, 'end')),
    kept: number(row, 'kept') === 1,
    stored: oneOf(storedPlaces, text(row, 'stored')),
    ...(row.tracks === null ? {} : { lacks: lacksOf(row.tracks) }),
  }
}

/** Parses the column with the missing tracks of a segment. */
export function lacksOf(tracks: SQLOutputValue | undefined): Shortcoming[] {
  const lacks = z.array(shortcoming).safeParse(typeof tracks === 'string' ? jsonOf(tracks) : undefined)
  if (!lacks.success) throw new DamagedRowError('tracks')
  return lacks.data
}

export function openSegmentOf(row: Row): OpenIndexEntry {
  const facts = storedFactsSchema.safeParse(jsonOf(text(row, 'facts')))
  if (!facts.success) throw new DamagedRowError('facts')
  return { ...withPath(facts.data), id: number(row, 'id') }
}

export function gapOf(row: Row): Gap {
  const to = row.to_at
  return {
    ...streamOf(row),
    from: number(row, 'from_at'),
    to: typeof to === 'number' ? to : null,
    reason: oneOf(gapReasons, text(row, 'reason')),
  }
}

export function recordedSourceOf(row: Row): RecordedSource {
  return {
    ...streamOf(row),
    userName: text(row, 'user_name'),
    topic: text(row, 'topic'),
    device: number(row, 'device') === 1,
    firstAt: number(row, 'first_at'),
    lastAt: number(row, 'last_at'),
    bytes: number(row, 'bytes'),
    segments: number(row, 'segments'),
  }
}

/** @throws DamagedRowError if the column contains no number */
export function number(row: Row, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw new DamagedRowError(column)
  return value
}

function moment(row: Row, column: string): number {
  const value = momentSchema.safeParse(row[column])
  if (!value.success) throw new DamagedRowError(column)
  return value.data
}

/** The index may have been written by other programs: an invalid recording path counts as damage. */
function storedPath(file: SQLOutputValue | undefined): string {
  if (typeof file !== 'string' || !isRecordedPath(file)) throw new DamagedRowError('file')
  return file
}

function jsonOf(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

function text(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new DamagedRowError(column)
  return value
}

function oneOf<T extends string>(values: readonly T[], value: string): T {
  const known = values.find((each) => each === value)
  if (known === undefined) throw new DamagedRowError(value)
  return known
}

/** Thrown if a row contains a value that no version writes. */
export class DamagedRowError extends Error {
  override readonly name = 'DamagedRowError'
  constructor(what: string) {
    super(`The index of the recordings is damaged at ${what}.`)
  }
}

import { createHash } from 'node:crypto'
import type { RecordedStream, SegmentStart } from '../../../shared/recordings/segment.ts'
import { ObjectError } from '../objects/object-error.ts'
import type { ByteSource } from '../playback/byte-source.ts'
import type { FragmentTable, FragmentTables } from '../playback/fragment-table.ts'
import { endOf } from '../playback/fragments.ts'
import { isCutOff, type SegmentFiles, type SegmentPlace } from '../playback/segment-sources.ts'
import { keyFrameAt } from '../playback/playable-pieces.ts'
import type { RecordingIndex } from '../recording-index.ts'

/** Span of one stream to export as a file. */
export interface ExportSpan extends RecordedStream {
  /** Start of the span, in milliseconds since the epoch by the node's clock. */
  from: number
  to: number
  picture: boolean
  sound: boolean
}

export interface ExportedFile {
  container: 'mp4' | 'webm'
  bytes: number
  /** Duration of the media in milliseconds. */
  durationMs: number
}

/** Piece of an export: part of one file. Times are seconds of the file's media time. */
export interface SourcePiece {
  open: () => Promise<ByteSource>
  /** Number of readable bytes. */
  bytes: number
  /**
   * Start: the first key frame, or the requested time without pictures. 0 if this segment continues the previous
   * segment: pictures shown before the first key frame may then be needed.
   */
  from: number
  to: number
  /** End of the last picture; equals `to` without pictures. Sound may last longer. */
  shownTo: number
  /** Wall-clock time of `from`, in milliseconds since the epoch. */
  at: number
  /** Upper bounds of the numbers of packets. */
  pictures: number
  sounds: number
  /** Formats of picture and sound; empty: none is exported. Pieces of different formats cannot share a file. */
  videoFormat: string
  audioFormat: string
  /** Width of the picture, in pixels; 0: no picture. */
  width: number
  height: number
}

/** Pieces that can share one file, sorted by time. */
export type SourceRun = readonly SourcePiece[]

/**
 * Finds the pieces of a span of one stream, including open segments.
 * @param lost receives the number of segments that cannot be read
 */
export async function piecesOfSpan(
  { files, index, tables }: { files: SegmentFiles; index: RecordingIndex; tables: FragmentTables },
  request: ExportSpan,
  lost: (segments: number) => void = () => {},
): Promise<SourcePiece[]> {
  const { from, to, roomId, userId, source, quality } = request
  const stream = { roomId, userId, source, quality }
  const found = [
    ...index.segments({ ...stream, from, to, limit: 100_000 }),
    ...index.open({ ...stream, from, to }),
  ].toSorted((one, other) => one.startedAt - other.startedAt)
  const pieces: SourcePiece[] = []
  for (const segment of found) {
    const pieceOfSegment = async (): Promise<SourcePiece | undefined> => {
      const isDamaged = isCutOff(await files.locate(segment), segment)
      // The cached table was read before the file was damaged.
      if (isDamaged) tables.forget(segment.file)
      const table = await tables.of(segment)
      const isEmpty = 'endedAt' in segment && table.fragments.length === 0
      if (isEmpty) files.doubt(segment)
      if (isDamaged || isEmpty) lost(1)
      return await pieceOf(files, segment, table, request, pieces.at(-1))
    }
    // A missing or damaged segment is skipped; the rest is exported.
    const piece = await pieceOfSegment().catch((error: unknown) => {
      // An export with holes would hide a failure of the object storage, which may be temporary.
      if (error instanceof ObjectError && error.problem !== 'missing') throw error
      // A segment that the retention deleted meanwhile is not lost.
      if (index.segment(segment.id) !== undefined) lost(1)
      return undefined
    })
    if (piece !== undefined) pieces.push(piece)
  }
  return pieces
}

async function pieceOf(
  files: SegmentFiles,
  segment: SegmentStart & SegmentPlace,
  table: FragmentTable,
  request: ExportSpan,
  before: SourcePiece | undefined,
): Promise<SourcePiece | undefined> {
  const { fragments, duration } = table
  const last = fragments.at(-1)
  const wantsPicture = request.picture && segment.videoCodec !== ''
  const wantsSound = request.sound && segment.audioCodec !== ''
  if (last === undefined || !(wantsPicture || wantsSound)) return undefined
  const wanted = Math.max(0, (request.from - segment.startedAt) / 1_000)
  const from =
    wantsPicture && !(wanted === 0 && follows(segment, before)) ? (keyFrameAt(table, wanted)?.time ?? 0) : wanted
  const to = Math.min(duration, (request.to - segment.startedAt) / 1_000)
  if (to <= from) return undefined
  const { open } = await files.locate(segment)
  const inSpan = fragments.filter(({ start, duration: length }) => start < to && start + length > from - 0.1)
  const pictures = inSpan.reduce((sum, fragment) => sum + fragment.pictures, 0)
  const sounds = inSpan.reduce((sum, fragment) => sum + fragment.samples - fragment.pictures, 0)
  return {
    ...{ open, from, to, pictures, sounds },
    shownTo: wantsPicture ? Math.min(to, endOf(fragments.filter(({ pictures: shown }) => shown > 0))) : to,
    bytes: last.offset + last.bytes,
    at: segment.startedAt + from * 1_000,
    videoFormat: wantsPicture ? pictureFormat(segment, table) : '',
    audioFormat: wantsSound ? segment.audioCodec : '',
    width: wantsPicture ? segment.width : 0,
    height: wantsPicture ? segment.height : 0,
  }
}

/** Whether a segment continues the stream at the end of a piece. */
function follows({ startedAt }: SegmentStart, before: SourcePiece | undefined): boolean {
  if (before === undefined) return false
  const { at, from, to } = before
  return Math.abs(startedAt - at - (to - from) * 1_000) < neighbourSeconds * 1_000
}

/**
 * Returns the picture format. For MP4, the format includes the decoder configuration, which applies to the whole file.
 * VP8 pictures contain their own size.
 */
function pictureFormat({ videoCodec, container }: SegmentStart, { tracks }: FragmentTable): string {
  if (container === 'webm') return videoCodec
  const description = tracks.find(({ type }) => type === 'video')?.description ?? new Uint8Array()
  return `${videoCodec} ${createHash('sha256').update(description).digest('base64url')}`
}

/** Groups pieces into runs of one format. A piece without picture or sound fits every format. */
export function runsOf(pieces: readonly SourcePiece[]): SourceRun[] {
  const runs: SourcePiece[][] = []
  let [video, audio] = ['', '']
  for (const piece of pieces) {
    const run = runs.at(-1)
    const fits = (held: string, own: string): boolean => held === '' || own === '' || held === own
    if (run !== undefined && fits(video, piece.videoFormat) && fits(audio, piece.audioFormat)) run.push(piece)
    else {
      runs.push([piece])
      ;[video, audio] = ['', '']
    }
    video ||= piece.videoFormat
    audio ||= piece.audioFormat
  }
  return runs
}

/**
 * Returns the offsets of the pieces in the joined file, in seconds. Adjacent pieces keep their wall-clock distance, but
 * pictures of two pieces never have the same time. Gaps are closed unless `keepGaps` is set.
 */
export function offsetsOf(run: SourceRun, keepGaps: boolean): number[] {
  const offsets: number[] = []
  /** Wall-clock offset of a piece, and end of the previous piece, in seconds. */
  let [due, end] = [0, 0]
  for (const [position, piece] of run.entries()) {
    const before = run[position - 1]
    if (before !== undefined) {
      const length = before.to - before.from
      const apart = (piece.at - before.at) / 1_000
      const isNeighbour = Math.abs(apart - length) < neighbourSeconds
      due += isNeighbour || (keepGaps && apart > length) ? apart : length
    }
    const offset = Math.max(due, end)
    offsets.push(offset)
    end = offset + piece.shownTo - piece.from
  }
  return offsets
}

/** Maximum gap or overlap of adjacent segments, in seconds. */
const neighbourSeconds = 0.5

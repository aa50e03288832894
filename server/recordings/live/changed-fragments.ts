import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { HeldRequest } from '../../capabilities/holder-pages.ts'
import type { CapabilityKind } from '../../store/capability-record.ts'
import { answerContent } from '../client-recordings/byte-answer.ts'
import type { ByteRange, FragmentTable } from '../playback/fragment-table.ts'
import { boxPlaces } from '../playback/mp4-scan.ts'

/** Ranges of a file. */
export interface PartOfFile {
  /** Opens the file, inside a folder of ours. */
  open: () => Promise<FileHandle>
  table: Pick<FragmentTable, 'init' | 'fragments'>
  allowed: readonly ByteRange[]
}

/**
 * Answers with a file of a recording whose init and fragments are changed, or the part of it that the request asks for. They stay at the same places as in the file. The caller sets the type.
 * @param file its table: what is behind its last fragment is not sent; `allowed`: ranges that may be read
 * @param change changes the init or a whole fragment in place, whose bytes begin there in the file
 */
export function answerChanged<K extends CapabilityKind>(
  request: HeldRequest<K>,
  { open, table, allowed }: PartOfFile,
  change: (piece: Buffer, offset: number) => void,
): void {
  const pieces = piecesOf(table)
  const size = pieces.reduce((end, piece) => Math.max(end, piece.offset + piece.bytes), 0)
  const read = (part: ByteRange): Readable => Readable.from(changedBytes(open, pieces, change, part))
  answerContent(request, { size, allowed, read })
}

/** Init and fragments, each up to the next one. */
function piecesOf({ init, fragments }: Pick<FragmentTable, 'init' | 'fragments'>): ByteRange[] {
  return [init, ...fragments].map(({ offset, bytes }, index) => {
    const next = fragments[index]
    return { offset, bytes: next === undefined ? bytes : next.offset - offset }
  })
}

async function* changedBytes(
  open: () => Promise<FileHandle>,
  pieces: readonly ByteRange[],
  change: (piece: Buffer, offset: number) => void,
  { offset, bytes }: ByteRange,
): AsyncGenerator<Buffer> {
  const file = await open()
  try {
    for (const piece of pieces) {
      const [from, to] = [Math.max(piece.offset, offset), Math.min(piece.offset + piece.bytes, offset + bytes)]
      if (from >= to) continue
      const content = Buffer.alloc(piece.bytes)
      await file.read(content, 0, piece.bytes, piece.offset)
      change(content, piece.offset)
      yield content.subarray(from - piece.offset, to - piece.offset)
    }
  } finally {
    await file.close()
  }
}

/**
 * Adds a time to the decode times of a fragment of an MP4, in place. Media time begins at 0 in each file; a playlist of several needs times that rise: ffmpeg discards what is not later
 * than the sample before it (`mov_read_trun`), behind a discontinuity, too.
 * @param piece the init, which stays as it is, or a whole fragment
 * @param seconds to add
 * @param timescales ticks a second of each track, by id
 */
export function moveTimes(piece: Buffer, seconds: number, timescales: ReadonlyMap<number, number>): void {
  for (const { type, from, to } of boxPlaces(piece)) {
    if (type !== 'moof') continue
    for (const track of boxPlaces(piece, from, to)) {
      if (track.type !== 'traf') continue
      const boxes = [...boxPlaces(piece, track.from, track.to)]
      const header = boxes.find((box) => box.type === 'tfhd')
      const time = boxes.find((box) => box.type === 'tfdt')
      const timescale = header && timescales.get(piece.readUInt32BE(header.from + 4))
      // The recorder writes 64 bits (ISO/IEC 14496-12, section 8.8.12).
      if (timescale === undefined || time === undefined || piece[time.from] !== 1) continue
      const moved = piece.readBigUInt64BE(time.from + 4) + BigInt(Math.round(seconds * timescale))
      piece.writeBigUInt64BE(moved, time.from + 4)
    }
  }
}

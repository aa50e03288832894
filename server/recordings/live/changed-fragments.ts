import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { HeldRequest } from '../../capabilities/holder-pages.ts'
import type { StoredCapabilityKind } from '../../store/capability-record.ts'
import { answerContent } from '../client-recordings/byte-answer.ts'
import type { ByteRange, FragmentTable } from '../playback/fragment-table.ts'
import { boxPlaces } from '../playback/mp4-scan.ts'

/** File, and its ranges that may be sent. */
export interface PartOfFile {
  /** Opens the file inside a folder of this program. */
  open: () => Promise<FileHandle>
  table: Pick<FragmentTable, 'init' | 'fragments'>
  allowed: readonly ByteRange[]
}

/**
 * Sends a recording, or the requested part of it, with changed init and fragments. Init and fragments keep their
 * positions in the file. The caller sets the content type.
 * @param file bytes after the last fragment of the table are not sent
 * @param change changes the init or a complete fragment in place; `offset` is its position in the file
 */
export function answerChanged<K extends StoredCapabilityKind>(
  request: HeldRequest<K>,
  { open, table, allowed }: PartOfFile,
  change: (piece: Buffer, offset: number) => void,
): void {
  const pieces = piecesOf(table)
  const size = pieces.reduce((end, piece) => Math.max(end, piece.offset + piece.bytes), 0)
  const read = (part: ByteRange): Readable => Readable.from(changedBytes(open, pieces, change, part))
  answerContent(request, { size, allowed, read })
}

/** Returns the init and the fragments, each extended to the start of the next fragment. */
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
 * Adds an offset to the decode times of an MP4 fragment, in place. Media time starts at 0 in each file, but a playlist
 * of several files needs increasing times. ffmpeg discards a sample that is not later than the previous one, even after
 * a discontinuity (`mov_read_trun`).
 * @param piece the init, which stays unchanged, or a complete fragment
 * @param seconds number of seconds to add
 * @param timescales ticks per second of each track, by id
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
      // The recorder writes 64-bit times (ISO/IEC 14496-12, section 8.8.12).
      if (timescale === undefined || time === undefined || piece[time.from] !== 1) continue
      const moved = piece.readBigUInt64BE(time.from + 4) + BigInt(Math.round(seconds * timescale))
      piece.writeBigUInt64BE(moved, time.from + 4)
    }
  }
}

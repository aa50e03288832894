import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { HeldRequest } from '../../capabilities/holder-pages.ts'
import type { CapabilityKind } from '../../store/capability-record.ts'
import type { ByteRange, FragmentTable } from '../playback/fragment-table.ts'
import { answerContent } from '../records/byte-answer.ts'
import { hideTracks } from './hidden-tracks.ts'
import { hideWebmTracks } from './hidden-webm.ts'

/** Ranges of a file. */
export interface PartOfFile {
  /** Opens the file, inside a folder of ours. */
  open: () => Promise<FileHandle>
  table: Pick<FragmentTable, 'container' | 'init' | 'fragments'>
  allowed: readonly ByteRange[]
}

/**
 * Answers with a file of a recording without some of its tracks, or the part of it that the request asks for. Its fragments are at the same places as in the file. The caller sets the type.
 * @param file its table: what is behind its last fragment is not sent; `allowed`: ranges that may be read
 */
export function answerWithoutTracks<K extends CapabilityKind>(
  request: HeldRequest<K>,
  { open, table, allowed }: PartOfFile,
  hidden: ReadonlySet<number>,
): void {
  const pieces = piecesOf(table)
  const hide = (piece: Buffer, offset: number): void => {
    if (table.container === 'webm') hideWebmTracks(piece, hidden)
    else hideTracks(piece, offset, hidden)
  }
  const size = pieces.reduce((end, piece) => Math.max(end, piece.offset + piece.bytes), 0)
  const read = (part: ByteRange): Readable => Readable.from(bytesWithout(open, pieces, hide, part))
  answerContent(request, { size, allowed, read })
}

/** Init and fragments, each up to the next one. */
function piecesOf({ init, fragments }: Pick<FragmentTable, 'init' | 'fragments'>): ByteRange[] {
  return [init, ...fragments].map(({ offset, bytes }, index) => {
    const next = fragments[index]
    return { offset, bytes: next === undefined ? bytes : next.offset - offset }
  })
}

async function* bytesWithout(
  open: () => Promise<FileHandle>,
  pieces: readonly ByteRange[],
  hide: (piece: Buffer, offset: number) => void,
  { offset, bytes }: ByteRange,
): AsyncGenerator<Buffer> {
  const file = await open()
  try {
    for (const piece of pieces) {
      const [from, to] = [Math.max(piece.offset, offset), Math.min(piece.offset + piece.bytes, offset + bytes)]
      if (from >= to) continue
      const content = Buffer.alloc(piece.bytes)
      await file.read(content, 0, piece.bytes, piece.offset)
      hide(content, piece.offset)
      yield content.subarray(from - piece.offset, to - piece.offset)
    }
  } finally {
    await file.close()
  }
}

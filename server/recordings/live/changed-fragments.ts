import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { HeldRequest } from '../../capabilities/holder-pages.ts'
import type { CapabilityKind } from '../../store/capability-record.ts'
import type { ByteRange, FragmentTable } from '../playback/fragment-table.ts'
import { answerContent } from '../records/byte-answer.ts'

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

import { type FileHandle, open } from 'node:fs/promises'
import { insideOf } from '../../../../shared/files/own-path.ts'
import type { RawRecord } from '../../state.ts'
import { readingOf } from '../store-file-error.ts'
import { decodeLine, endsWrite, type SegmentHeader, segmentName } from '../../journal/journal-line.ts'

export interface SegmentReport {
  /** Number of valid change lines. */
  lines: number
  /**
   * Minimum number of lines that existed and are lost: damaged lines before valid ones, or lines missing before the
   * known end.
   */
  lost: number
  /** Whether the first line is damaged; it contains no changes. */
  headerDamaged: boolean
  /**
   * Whether the last lines are incomplete, as after a crash during a write. Nothing proves that they had been
   * confirmed.
   */
  torn: boolean
  /** Position of the end of the last valid line, in bytes. */
  end: number
}

/** Facts about a segment that are stored outside of it. */
export interface KnownSegment {
  number: number
  /** End of the segment in bytes, if a later segment names it. */
  end?: number | undefined
  /** Minimum content that was on disk at some moment, from the high-water mark. */
  confirmed?: { end: number; lines: number } | undefined
}

const chunkBytes = 1024 * 1024
const maxLine = 512 * 1024 * 1024

/** Maximum size of a header, in bytes. */
const headBytes = 64 * 1024

/**
 * Reads the header of a segment from its first 64 KiB. `damaged`: lines may follow; `unfinished`: the header was never
 * written completely, so no line can follow.
 */
export async function readSegmentHeader(
  folder: string,
  segment: number,
): Promise<SegmentHeader | 'damaged' | 'unfinished'> {
  const path = insideOf(folder, segmentName(segment))
  const handle = await readingOf(path, () => open(path, 'r'))
  try {
    const buffer = Buffer.alloc(headBytes)
    const { bytesRead } = await readingOf(path, () => handle.read(buffer, 0, buffer.length, 0))
    const newline = buffer.subarray(0, bytesRead).indexOf(0x0a)
    const line = newline === -1 ? undefined : decodeLine(buffer, 0, newline)
    if (line?.kind === 'header') return line.header
    // Space for further lines is allocated only after the first line of changes.
    const isAlone = bytesRead < headBytes && (newline === -1 || newline === bytesRead - 1)
    return isAlone ? 'unfinished' : 'damaged'
  } finally {
    await handle.close()
  }
}

/** Reads a segment line by line, in chunks. @param onChanges called with the changes of each valid line, in order */
export async function readJournalSegment(
  folder: string,
  known: KnownSegment,
  onChanges: (changes: readonly RawRecord[]) => void,
): Promise<SegmentReport> {
  const path = insideOf(folder, segmentName(known.number))
  const handle = await readingOf(path, () => open(path, 'r'))
  try {
    const scanner = new SegmentScanner(onChanges)
    await readingOf(path, () => scan(handle, known.end ?? Number.POSITIVE_INFINITY, scanner))
    return scanner.finish(known)
  } finally {
    await handle.close()
  }
}

async function scan(handle: FileHandle, limit: number, scanner: SegmentScanner): Promise<void> {
  let buffer = Buffer.allocUnsafeSlow(chunkBytes)
  let filled = 0
  let position = 0
  for (;;) {
    const wanted = Math.min(buffer.length - filled, limit - position)
    const { bytesRead } = wanted === 0 ? { bytesRead: 0 } : await handle.read(buffer, filled, wanted, position)
    if (bytesRead === 0) break
    position += bytesRead
    filled += bytesRead
    const used = scanner.take(buffer, filled)
    buffer.copyWithin(0, used, filled)
    filled -= used
    if (filled === buffer.length) {
      if (buffer.length >= maxLine) throw new Error('A line of the journal is too long.')
      const larger = Buffer.allocUnsafeSlow(buffer.length * 2)
      buffer.copy(larger)
      buffer = larger
    }
  }
  scanner.rest(filled)
}

class SegmentScanner {
  readonly #onChanges: (changes: readonly RawRecord[]) => void
  #lines = 0
  readonly #bad = new BadLines()
  /** Number of zero bytes since the last line: unwritten space, or a hole if something follows. */
  #zeros = 0
  #position = 0
  #end = 0
  #footer: number | undefined
  #started = false
  #headerDamaged = false

  constructor(onChanges: (changes: readonly RawRecord[]) => void) {
    this.#onChanges = onChanges
  }

  /** @returns the number of bytes processed */
  take(bytes: Buffer, filled: number): number {
    let at = 0
    for (;;) {
      if (bytes[at] === 0 && at < filled) {
        const start = at
        at = endOfZeros(bytes, at, filled)
        this.#zeros += at - start
        this.#position += at - start
      }
      const newline = at < filled ? bytes.subarray(at, filled).indexOf(0x0a) : -1
      if (newline === -1) return at
      if (this.#zeros > 0) this.#bad.last++
      this.#zeros = 0
      this.#position += newline + 1
      this.#line(bytes, at, at + newline)
      at += newline + 1
    }
  }

  /** @param bytes number of bytes after the last newline */
  rest(bytes: number): void {
    if (bytes > 0) this.#bad.last++
  }

  finish({ end, confirmed }: KnownSegment): SegmentReport {
    // Before a footer, or before an end that another file names, no line can be torn: a damaged line there is lost.
    const cut = this.#end < Math.max(end ?? 0, confirmed?.end ?? 0)
    const counted = Math.max(this.#footer ?? 0, confirmed?.lines ?? 0)
    // A damaged newline merges the header and the first line of changes into one damaged line. Without a known count,
    // one lost line is assumed.
    const withHeader = this.#headerDamaged && counted === 0 && this.#lines > 0 ? 1 : 0
    const { doubtful, last } = this.#bad
    const torn = last + doubtful
    const lost = Math.max(this.#bad.lost + withHeader + (cut ? torn : 0), counted - this.#lines, cut ? 1 : 0)
    return {
      lines: this.#lines,
      lost,
      headerDamaged: this.#headerDamaged,
      // If the end is known, an earlier start has reported the doubtful lines.
      torn: !cut && this.#footer === undefined && (end === undefined ? torn : last) > 0,
      end: this.#end,
    }
  }

  #line(bytes: Buffer, start: number, end: number): void {
    const line = decodeLine(bytes, start, end)
    const first = !this.#started
    this.#started = true
    if (line === undefined) {
      if (first) this.#headerDamaged = true
      else this.#bad.last++
      return
    }
    this.#bad.good(endsWrite(bytes, end), line.kind === 'footer')
    this.#end = this.#position
    if (line.kind === 'changes') {
      this.#lines++
      this.#onChanges(line.changes)
    } else if (line.kind === 'footer') this.#footer = line.lines
  }
}

/** Counts damaged lines: unconfirmed and lost lines. */
class BadLines {
  /** Number of damaged lines since the last valid line. */
  last = 0
  /**
   * Number of damaged lines before valid lines that may belong to the same write. The damaged lines are lost if a line
   * of a later write follows, otherwise torn.
   */
  doubtful = 0
  lost = 0
  /** Whether the write that may contain the doubtful lines has ended. */
  #isOver = false

  /**
   * Records a valid line.
   * @param endsWrite whether the line is the last line of its write
   * @param isFooter whether the line is the footer: every earlier write was confirmed
   */
  good(endsWrite: boolean, isFooter: boolean): void {
    if (this.#isOver) this.#confirmed()
    this.doubtful += this.last
    this.last = 0
    if (isFooter) this.#confirmed()
    this.#isOver = this.doubtful > 0 && endsWrite
  }

  #confirmed(): void {
    this.lost += this.doubtful
    this.doubtful = 0
  }
}

const zeros = Buffer.alloc(64 * 1024)

function endOfZeros(bytes: Buffer, from: number, to: number): number {
  let at = from
  while (to - at >= zeros.length && zeros.equals(bytes.subarray(at, at + zeros.length))) at += zeros.length
  while (at < to && bytes[at] === 0) at++
  return at
}

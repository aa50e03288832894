import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { RawRecord } from '../files/documents.ts'
import { decodeLine, type SegmentHeader, segmentName } from './journal-line.ts'

/** What reading a segment found. */
export interface SegmentReport {
  /** Good lines of changes. */
  lines: number
  /** Lines that were there and are lost: bad ones with good ones behind them, or missing before the known end. */
  lost: number
  /** The last lines are incomplete, as a crash in the middle of a write leaves them: nobody was told that they were stored. */
  torn: boolean
  /** Bytes up to the end of the last good line. */
  end: number
}

const chunkBytes = 1024 * 1024
const longestLine = 512 * 1024 * 1024

/** The header of a segment, read from its first 64 KiB; undefined when it is damaged. */
export async function readSegmentHeader(folder: string, segment: number): Promise<SegmentHeader | undefined> {
  const handle = await open(join(folder, segmentName(segment)), 'r')
  try {
    const buffer = Buffer.alloc(64 * 1024)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
    const newline = buffer.subarray(0, bytesRead).indexOf(0x0a)
    const line = newline === -1 ? undefined : decodeLine(buffer, 0, newline)
    return line?.kind === 'header' ? line.header : undefined
  } finally {
    await handle.close()
  }
}

/**
 * Reads a segment line by line, in chunks.
 * @param knownEnd where the segment ends in bytes, when a later one says so.
 * @param onChanges called with the changes of each good line, in order.
 */
export async function readSegment(
  folder: string,
  segment: number,
  knownEnd: number | undefined,
  onChanges: (changes: readonly RawRecord[]) => void,
): Promise<SegmentReport> {
  const handle = await open(join(folder, segmentName(segment)), 'r')
  try {
    const scanner = new SegmentScanner(onChanges)
    await scan(handle, knownEnd ?? Number.POSITIVE_INFINITY, scanner)
    return scanner.finish(knownEnd)
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
      if (buffer.length >= longestLine) throw new Error('A line of the journal is too long.')
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
  #lost = 0
  /** Bad lines since the last good one: lost when a good one follows, torn when none does. */
  #bad = 0
  /** Zero bytes since the last line: unwritten space, or a hole when something follows. */
  #zeros = 0
  #position = 0
  #end = 0
  #footer: number | undefined

  constructor(onChanges: (changes: readonly RawRecord[]) => void) {
    this.#onChanges = onChanges
  }

  /** @returns how many of the `filled` bytes are done with. */
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
      if (this.#zeros > 0) this.#bad++
      this.#zeros = 0
      this.#position += newline + 1
      this.#line(bytes, at, at + newline)
      at += newline + 1
    }
  }

  /** @param bytes after the last newline. */
  rest(bytes: number): void {
    if (bytes > 0) this.#bad++
  }

  finish(knownEnd: number | undefined): SegmentReport {
    const complete = this.#footer !== undefined
    // Behind a footer, or before an end that a later segment vouches for, there are no torn lines: what is not good is lost.
    const cut = knownEnd !== undefined && this.#end < knownEnd
    let lost = this.#lost
    if (cut) lost += Math.max(this.#bad, 1)
    if (this.#footer !== undefined) lost = Math.max(lost, this.#footer - this.#lines)
    return { lines: this.#lines, lost, torn: !cut && !complete && this.#bad > 0, end: this.#end }
  }

  #line(bytes: Buffer, start: number, end: number): void {
    const line = decodeLine(bytes, start, end)
    if (line === undefined) {
      this.#bad++
      return
    }
    this.#lost += this.#bad
    this.#bad = 0
    this.#end = this.#position
    if (line.kind === 'changes') {
      this.#lines++
      this.#onChanges(line.changes)
    } else if (line.kind === 'footer') this.#footer = line.lines
  }
}

const zeros = Buffer.alloc(64 * 1024)

function endOfZeros(bytes: Buffer, from: number, to: number): number {
  let at = from
  while (to - at >= zeros.length && zeros.equals(bytes.subarray(at, at + zeros.length))) at += zeros.length
  while (at < to && bytes[at] === 0) at++
  return at
}

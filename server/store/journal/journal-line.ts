import { crc32 } from 'node:zlib'
import { turn } from '../system/time.ts'
import { checksum } from '../files/document-reader.ts'
import type { RawRecord } from '../state.ts'
import type { Change } from '../store.ts'

/*
 * A journal segment consists of lines of `<CRC-32 of the rest, 8 hex digits> <JSON>`:
 * - first an object that identifies the segment,
 * - then one array of changes per transaction, `[["rooms","123",{...}],["rooms","124"]]` (without a value: deleted),
 * - last `{"lines":N}`, if the segment was closed properly.
 *
 * Zero bytes after a line are space that is not written yet. A space after the JSON means that the next line belongs to
 * the same write. A power failure may remove lines from the middle of an unconfirmed write.
 */

/** First line of a segment. */
export interface SegmentHeader {
  journal: 1
  /** Schema version of the records. */
  version: number
  segment: number
  /** Number of the previous segment; numbers in between were never used. 0: none. */
  previous: number
  /** Ends of earlier segments, in bytes. Lines after the end of a segment were rejected or torn, and are ignored. */
  ends: Readonly<Record<string, number>>
  /** The highest room number assigned before this segment. */
  room_number: number
}

/** Decoded line of a segment. */
export type JournalLine =
  | { kind: 'header'; header: SegmentHeader }
  | { kind: 'changes'; changes: readonly RawRecord[] }
  | { kind: 'footer'; lines: number }

/** Returns one line, including the newline. */
export function encodeLine(json: string): string {
  return `${checksum(crc32(json))} ${json}\n`
}

/** Returns a line with a mark that another line of the same write follows. */
export function withNext(line: string): string {
  const sum = crc32(' ', Number.parseInt(line.slice(0, 8), 16))
  return `${checksum(sum)}${line.slice(8, -1)} \n`
}

/** Whether a line is the last line of its write. @param end end of the line, without its newline */
export function endsWrite(bytes: Buffer, end: number): boolean {
  return bytes[end - 1] !== 0x20
}

/** Returns the line of one transaction. */
export function encodeChanges(changes: readonly Change[]): string {
  let json = '['
  for (const { collection, key, value } of changes) {
    if (json.length > 1) json += ','
    json += `["${collection}",${JSON.stringify(key)}`
    json += value === undefined ? ']' : `,${JSON.stringify(value)}]`
  }
  return encodeLine(`${json}]`)
}

/**
 * Length, in characters, at which the next line of a large change begins: replicas read some thousand lines per query.
 */
const lineLength = 8 * 1024
/** Number of records processed before yielding to the event loop; takes about 2 ms. */
const slice = 1_000

/**
 * Encodes a change of any size in several lines of limited length. Only for a database, which stores all of the lines
 * or none: after a crash, a file could contain only some of the lines.
 */
export async function encodeInLines(changes: readonly Change[]): Promise<string[]> {
  const lines: string[] = []
  let gathered: Change[] = []
  let length = 0
  for (const [index, change] of changes.entries()) {
    gathered.push(change)
    length += change.key.length + (change.value === undefined ? 0 : JSON.stringify(change.value).length)
    if (length >= lineLength) {
      lines.push(encodeChanges(gathered))
      gathered = []
      length = 0
    }
    if (index % slice === slice - 1) await turn()
  }
  if (gathered.length > 0) lines.push(encodeChanges(gathered))
  return lines
}

/**
 * Returns the content of a line whose checksum is valid; otherwise undefined.
 * @param start start of the line in `bytes`
 * @param end end of the line, without its newline
 */
export function checkedJson(bytes: Buffer, start: number, end: number): unknown {
  if (end > bytes.length || end - start < 11 || bytes[start + 8] !== 0x20) return undefined
  if (bytes.toString('latin1', start, start + 8) !== checksum(crc32(bytes.subarray(start + 9, end)))) return undefined
  try {
    return JSON.parse(bytes.toString('utf8', start + 9, end))
  } catch {
    return undefined
  }
}

/** Parses a line of a segment, with the arguments of `checkedJson`; undefined: the line is damaged. */
export function decodeLine(bytes: Buffer, start: number, end: number): JournalLine | undefined {
  const value = checkedJson(bytes, start, end)
  if (Array.isArray(value)) {
    const changes: RawRecord[] = []
    for (const item of value as unknown[]) {
      if (!Array.isArray(item)) return undefined
      const [collection, key, record] = item as unknown[]
      if (typeof collection !== 'string' || typeof key !== 'string') return undefined
      if (record !== undefined && (typeof record !== 'object' || record === null)) return undefined
      changes.push({ collection, key, value: record })
    }
    return { kind: 'changes', changes }
  }
  if (typeof value !== 'object' || value === null) return undefined
  if ('lines' in value && typeof value.lines === 'number') return { kind: 'footer', lines: value.lines }
  const header = toHeader(value)
  return header === undefined ? undefined : { kind: 'header', header }
}

function toHeader(value: object): SegmentHeader | undefined {
  if (!('version' in value) || typeof value.version !== 'number') return undefined
  const number = (name: string): number => {
    const field: unknown = Reflect.get(value, name)
    return typeof field === 'number' && Number.isSafeInteger(field) && field >= 0 ? field : 0
  }
  const ends: Record<string, number> = {}
  if ('ends' in value && typeof value.ends === 'object' && value.ends !== null) {
    for (const [segment, end] of Object.entries(value.ends)) {
      if (/^\d+$/.test(segment) && typeof end === 'number') ends[segment] = end
    }
  }
  return {
    journal: 1,
    version: value.version,
    segment: number('segment'),
    previous: number('previous'),
    ends,
    room_number: number('room_number'),
  }
}

const namePattern = /^journal-(\d{6,15})\.ndjson$/

export function segmentName(segment: number): string {
  return `journal-${String(segment).padStart(6, '0')}.ndjson`
}

/** Returns the number of a segment from its file name; undefined for any other file. */
export function segmentNumber(name: string): number | undefined {
  const digits = namePattern.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

import { open, rm, type FileHandle } from 'node:fs/promises'
import { insideOf } from '../../shared/files/own-path.ts'
import { listFolder, syncFolder } from '../store/files/durable-files.ts'
import { eventEntryOf } from './entry-line.ts'
import type { EventEntry } from '../../shared/domain/events.ts'

/** One file of the log: consecutive entries, one per line. */
export interface LogSegment {
  name: string
  /** Number of the first entry. */
  first: number
  bytes: number
  /** Time of the first entry, in milliseconds since the epoch; 0: the entry is unreadable. */
  at: number
  /** `prev` of the first entry; empty: the entry is unreadable. */
  prev: string
}

const namePattern = /^events-(\d{12})\.ndjson$/
/** Maximum length of a line, in bytes. `boundedContent` keeps entries shorter. */
export const maxLine = 64 * 1024

function segmentName(first: number): string {
  return `events-${String(first).padStart(12, '0')}.ndjson`
}

/**
 * Returns the segments of a folder from the oldest to the newest. Skips segments before `oldest`, which are leftovers
 * of an interrupted deletion.
 */
export async function listSegments(folder: string, oldest = 1): Promise<LogSegment[]> {
  const segments: LogSegment[] = []
  for (const name of await listFolder(folder)) {
    const number = namePattern.exec(name)?.[1]
    if (number === undefined || Number(number) < oldest) continue
    segments.push({ name, first: Number(number), ...(await beginningOf(insideOf(folder, name))) })
  }
  return segments.sort((one, other) => one.first - other.first)
}

async function beginningOf(path: string): Promise<Pick<LogSegment, 'bytes' | 'at' | 'prev'>> {
  const handle = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(maxLine)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
    const end = buffer.subarray(0, bytesRead).indexOf(0x0a)
    const entry = end === -1 ? undefined : eventEntryOf(buffer.subarray(0, end))
    const { size } = await handle.stat()
    return { bytes: size, at: entry?.at ?? 0, prev: entry?.prev ?? '' }
  } finally {
    await handle.close()
  }
}

/** Deletes segments before the first entry in the head: leftovers of an interrupted deletion. */
export async function removeBefore(folder: string, oldest: number): Promise<void> {
  for (const name of await listFolder(folder)) {
    const number = namePattern.exec(name)?.[1]
    if (number !== undefined && Number(number) < oldest) await rm(insideOf(folder, name), { force: true })
  }
}

export interface LogBounds {
  days: number
  megabytes: number
}

const dayMs = 24 * 60 * 60_000

/** Returns the number of oldest segments that exceed the limits, without the segment being written. */
export function expired(segments: readonly Pick<LogSegment, 'bytes' | 'at'>[], bounds: LogBounds, now: number): number {
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  let count = 0
  for (let index = 0; index + 1 < segments.length; index++) {
    const next = segments[index + 1]
    // All entries of a segment are older than the first entry of the next segment.
    const isOld = next !== undefined && now - next.at > bounds.days * dayMs
    if (!isOld && bytes <= bounds.megabytes * 1_000_000) break
    bytes -= segments[index]?.bytes ?? 0
    count = index + 1
  }
  return count
}

/**
 * Whether two times are on different days (UTC). Each day begins a new file, so that old entries are deleted day by
 * day.
 */
function isAnotherDay(one: number, other: number): boolean {
  return Math.floor(one / dayMs) !== Math.floor(other / dayMs)
}

/** Returns the number of oldest lines to delete from a log without segments. @param bytes size of the whole log */
export function linesToRemove(
  lines: readonly { line: string }[],
  { days, megabytes }: LogBounds,
  bytes: number,
  now: number,
): number {
  let rest = bytes
  let count = 0
  for (const { line } of lines) {
    const isOld = now - (eventEntryOf(line)?.at ?? 0) > days * dayMs
    if (!isOld && rest <= megabytes * 1_000_000) break
    rest -= Buffer.byteLength(line) + 1
    count++
  }
  // The last line stays, because the next entry follows it.
  return Math.min(count, lines.length - 1)
}

/** Files of the log. Entries are appended to the last file; expired files are deleted from the start. */
export class LogFiles {
  readonly #folder: string
  readonly #segments: LogSegment[]
  /** Size after which a segment ends, in bytes. */
  readonly #maxBytes: number
  /** Whether the last segment is intact up to its end, so that the next entry may be appended to it. */
  #goesOn: boolean
  #handle: FileHandle | undefined

  constructor(folder: string, segments: LogSegment[], goesOn: boolean, maxBytes: number) {
    this.#folder = folder
    this.#segments = segments
    this.#goesOn = goesOn
    this.#maxBytes = maxBytes
  }

  get all(): readonly LogSegment[] {
    return this.#segments
  }

  /** Whether the last segment is open, so that it may have unsynced data. */
  get isOpen(): boolean {
    return this.#handle !== undefined
  }

  /**
   * Returns whether entries from `first` on belong to the last segment. A new day or the maximum size starts a new
   * segment.
   */
  takes(first: EventEntry): boolean {
    const last = this.#segments.at(-1)
    return last !== undefined && this.#goesOn && last.bytes < this.#maxBytes && !isAnotherDay(last.at, first.at)
  }

  /** Begins a new segment with this entry. @throws errors of the file system */
  async begin(first: EventEntry): Promise<void> {
    await this.close()
    const segment = { name: segmentName(first.seq), first: first.seq, bytes: 0, at: first.at, prev: first.prev }
    // An existing segment of this name contains no sealed entry.
    if (this.#segments.at(-1)?.first === segment.first) this.#segments.pop()
    this.#handle = await open(insideOf(this.#folder, segment.name), 'w', 0o600)
    await syncFolder(this.#folder)
    this.#segments.push(segment)
    this.#goesOn = true
  }

  /** Appends to the last segment. @throws errors of the file system; in that case, none of `bytes` stays in the file */
  async write(bytes: Buffer): Promise<void> {
    const segment = this.#segments.at(-1)
    if (segment === undefined) throw new Error('The event log has no segment.')
    this.#handle ??= await open(insideOf(this.#folder, segment.name), 'r+')
    try {
      await writeAll(this.#handle, bytes, segment.bytes)
    } catch (error) {
      // An incomplete line must not stay in the file.
      await this.#handle.truncate(segment.bytes).catch(() => undefined)
      throw error
    }
    segment.bytes += bytes.length
  }

  /** Syncs the written data. @throws errors of the file system */
  async sync(): Promise<void> {
    await this.#handle?.datasync()
  }

  /** Deletes the oldest segments. @throws errors of the file system */
  async remove(count: number): Promise<void> {
    for (const { name } of this.#segments.splice(0, count)) await rm(insideOf(this.#folder, name), { force: true })
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = undefined
  }
}

/** Writes all bytes: a single write may accept only a part. @throws errors of the file system */
async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

import { open, rm } from 'node:fs/promises'
import { insideOf } from '../../shared/files/own-path.ts'
import { listFolder } from '../store/files/durable-files.ts'
import { entryOf } from './entry-line.ts'

/** One file of the log: entries in a row, one a line. */
export interface Segment {
  name: string
  /** seq of its first entry. */
  first: number
  bytes: number
  /** When its first entry was made; 0 when that cannot be read. */
  at: number
  /** Hash that its first entry follows. */
  prev: string
}

const namePattern = /^events-(\d{12})\.ndjson$/
/** A line is shorter: entries are bounded. */
export const maxLine = 64 * 1024

export function segmentName(first: number): string {
  return `events-${String(first).padStart(12, '0')}.ndjson`
}

/** The segments of a folder from the oldest to the newest; those before `oldest` are left over from a clearing that was cut short. */
export async function listSegments(folder: string, oldest = 1): Promise<Segment[]> {
  const segments: Segment[] = []
  for (const name of await listFolder(folder)) {
    const number = namePattern.exec(name)?.[1]
    if (number === undefined || Number(number) < oldest) continue
    segments.push({ name, first: Number(number), ...(await beginningOf(insideOf(folder, name))) })
  }
  return segments.sort((one, other) => one.first - other.first)
}

async function beginningOf(path: string): Promise<Pick<Segment, 'bytes' | 'at' | 'prev'>> {
  const handle = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(maxLine)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
    const end = buffer.subarray(0, bytesRead).indexOf(0x0a)
    const entry = end === -1 ? undefined : entryOf(buffer.subarray(0, end))
    const { size } = await handle.stat()
    return { bytes: size, at: entry?.at ?? 0, prev: entry?.prev ?? '' }
  } finally {
    await handle.close()
  }
}

/** Removes what a clearing that was cut short left: segments that the head says are gone. */
export async function removeBefore(folder: string, oldest: number): Promise<void> {
  for (const name of await listFolder(folder)) {
    const number = namePattern.exec(name)?.[1]
    if (number !== undefined && Number(number) < oldest) await rm(insideOf(folder, name), { force: true })
  }
}

/** How much of the log is kept. */
export interface LogBounds {
  days: number
  megabytes: number
}

const dayMs = 24 * 60 * 60_000

/** How many of the oldest segments go: whole ones, never the one that is written. */
export function expired(segments: readonly Pick<Segment, 'bytes' | 'at'>[], bounds: LogBounds, now: number): number {
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  let count = 0
  for (let index = 0; index + 1 < segments.length; index++) {
    const next = segments[index + 1]
    // All of a segment is older than the first entry of the next one.
    const isOld = next !== undefined && now - next.at > bounds.days * dayMs
    if (!isOld && bytes <= bounds.megabytes * 1_000_000) break
    bytes -= segments[index]?.bytes ?? 0
    count = index + 1
  }
  return count
}

/** Whether entries made at these moments stand in files of their own: each day (UTC) begins one, so that old ones go day by day. */
export function isAnotherDay(one: number, other: number): boolean {
  return Math.floor(one / dayMs) !== Math.floor(other / dayMs)
}

/** Counts the oldest lines that a log without segments is to lose. @param bytes of the whole log */
export function linesToRemove(
  lines: readonly { line: string }[],
  { days, megabytes }: LogBounds,
  bytes: number,
  now: number,
): number {
  let rest = bytes
  let count = 0
  for (const { line } of lines) {
    const isOld = now - (entryOf(line)?.at ?? 0) > days * dayMs
    if (!isOld && rest <= megabytes * 1_000_000) break
    rest -= Buffer.byteLength(line) + 1
    count++
  }
  // The last one stays: the next entry follows it.
  return Math.min(count, lines.length - 1)
}

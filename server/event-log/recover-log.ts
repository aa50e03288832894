import { open, rm, truncate } from 'node:fs/promises'
import { insideOf } from '../../shared/files/own-path.ts'
import type { EventEntry, LogFault } from '../../shared/domain/events.ts'
import type { Sealer } from '../store/sealer.ts'
import { beginning, type ChainEnd, eventEntryOf, isIntact, noHash, linePlaceOf } from './entry-line.ts'
import { type LogHead, readLogHead } from './log-seal.ts'
import { listSegments, removeBefore, type LogSegment } from './segments.ts'

/** Content of a log's folder, ready to be continued. */
export interface RecoveredLog {
  segments: LogSegment[]
  oldest: LogHead['oldest']
  /** End of the chain, which the next entry follows. */
  end: ChainEnd
  /** The newest entries, oldest first. */
  tail: EventEntry[]
  /** Whether the last segment is intact up to its end, so that the next entry may be appended to it. */
  goesOn: boolean
  /** Fault that was found, to be reported by the next entry; undefined: none. */
  fault: LogFault | undefined
  /** Number of bytes of torn lines after the seal, which were removed. */
  dropped: number
}

/**
 * Reads the end of the log. If the log ends before the entry recorded in the store, numbering continues from that
 * entry, so that every later check finds the gap.
 * Torn lines after the seal are removed. Any other fault is kept: the chain is continued so that every later check
 * finds the fault.
 * @param reached number of an entry that the log contained; 0: unknown
 * @throws errors of the file system
 */
export async function recoverLog(
  folder: string,
  sealer: Pick<Sealer, 'proof'>,
  tailLength: number,
  reached = 0,
): Promise<RecoveredLog> {
  const recovered = await recoverEnd(folder, sealer, tailLength)
  if (recovered.end.seq >= reached) return recovered
  const { fault = 'shortened' } = recovered
  return { ...recovered, end: { seq: reached, hash: noHash }, goesOn: false, fault }
}

async function recoverEnd(folder: string, sealer: Pick<Sealer, 'proof'>, tailLength: number): Promise<RecoveredLog> {
  const read = await readLogHead(folder, sealer)
  const head = read.state === 'good' ? read.head : undefined
  if (head !== undefined) await removeBefore(folder, head.oldest.seq)
  const segments = await listSegments(folder, head?.oldest.seq)
  let dropped = 0
  for (;;) {
    const last = segments.at(-1)
    const oldest = head?.oldest ?? { seq: segments[0]?.first ?? 1, prev: segments[0]?.prev || noHash }
    if (last === undefined) {
      const end = head?.newest ?? beginning
      const nothing = { segments, oldest, tail: [], goesOn: false, dropped }
      if (end.seq >= oldest.seq) return { ...nothing, end, fault: 'cutOff' }
      return { ...nothing, end, fault: read.state === 'forged' ? 'headForged' : undefined }
    }
    const found = await readEnd(insideOf(folder, last.name), last, tailLength)
    const cut = last.bytes - found.bytes
    if (found.end === undefined && head !== undefined && last.first > head.newest.seq) {
      // The process ended while it created this segment.
      await rm(insideOf(folder, last.name), { force: true })
      segments.pop()
      dropped += cut
      continue
    }
    if (head === undefined) {
      const end = { seq: found.lastSeq, hash: noHash }
      const fault = read.state === 'forged' ? 'headForged' : 'headMissing'
      return { segments, oldest, end, tail: found.tail, goesOn: false, fault, dropped }
    }
    const { end } = found
    const isSealedWhole = end !== undefined && end.seq >= head.newest.seq && found.hashes(head.newest)
    if (!isSealedWhole) {
      const fault = end === undefined || end.seq < head.newest.seq ? 'cutOff' : 'changed'
      return { segments, oldest, end: head.newest, tail: found.tail, goesOn: false, fault, dropped }
    }
    if (cut > 0) {
      await truncate(insideOf(folder, last.name), found.bytes)
      last.bytes = found.bytes
    }
    return { segments, oldest, end, tail: found.tail, goesOn: true, fault: undefined, dropped: dropped + cut }
  }
}

/** The intact part of a segment. */
interface SegmentEnd {
  /** Last entry of the valid chain; undefined: the first entry is damaged. */
  end: ChainEnd | undefined
  /** Highest entry number found, at least the number of the first entry. */
  lastSeq: number
  /** Number of bytes up to the last valid entry. */
  bytes: number
  tail: EventEntry[]
  /** Returns whether the entry at this position is in the segment, or directly before the segment. */
  hashes(place: ChainEnd): boolean
}

async function readEnd(path: string, { first, prev }: LogSegment, tailLength: number): Promise<SegmentEnd> {
  const handle = await open(path, 'r')
  const known = new Map<number, string>([[first - 1, prev]])
  const lines: Buffer[] = []
  let end: ChainEnd | undefined
  let bytes = 0
  let lastSeq = first
  try {
    // A segment has only a few megabytes.
    const text = await handle.readFile()
    for (let from = 0; from < text.length; ) {
      const newline = text.indexOf(0x0a, from)
      if (newline === -1) break
      const line = text.subarray(from, newline)
      const place = linePlaceOf(line)
      if (place === undefined || !isIntact(line, place)) break
      lastSeq = Math.max(lastSeq, place.seq)
      const before: ChainEnd = end ?? { seq: first - 1, hash: prev }
      if (place.seq !== before.seq + 1 || place.prev !== before.hash) break
      end = { seq: place.seq, hash: place.hash }
      known.set(place.seq, place.hash)
      lines.push(line)
      from = newline + 1
      bytes = from
    }
  } finally {
    await handle.close()
  }
  const tail = lines.slice(-tailLength).flatMap((line) => eventEntryOf(line) ?? [])
  return { end, lastSeq, bytes, tail, hashes: (place) => known.get(place.seq) === place.hash }
}

import { open, rm, truncate } from 'node:fs/promises'
import { insideOf } from '../../shared/files/own-path.ts'
import type { EventEntry, LogFault } from '../../shared/domain/events.ts'
import type { Sealer } from '../store/sealer.ts'
import { beginning, type ChainEnd, entryOf, isIntact, noHash, placeOf } from './entry-line.ts'
import { readHead, type LogHead } from './log-head.ts'
import { listSegments, removeBefore, type Segment } from './segments.ts'

/** Content of a folder, ready to be continued. */
export interface RecoveredLog {
  segments: Segment[]
  oldest: LogHead['oldest']
  /** End of the chain, which the next entry follows. */
  end: ChainEnd
  /** The newest entries, oldest first. */
  tail: EventEntry[]
  /** The last segment is whole to its end: the next entry may stand in it. */
  goesOn: boolean
  /** Fault that was found; the next entry names it. */
  fault: LogFault | undefined
  /** Bytes behind the seal that a crash had left in pieces, and that are gone. */
  dropped: number
}

/**
 * Reads the end of the log. A log that ends before the entry in the store is numbered on from there, so that every later check finds the gap. Lines that a crash cut short behind
 * the seal are removed; any other fault stays, and the chain goes on so that every later check finds it too.
 * @param reached number of an entry that the log had; 0: unknown
 * @throws what the file system says
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
  const read = await readHead(folder, sealer)
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
      // It was being begun when the process ended.
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

/** The whole part of a segment. */
interface SegmentEnd {
  /** Its last entry that follows the ones before it. */
  end: ChainEnd | undefined
  /** The highest number that any of its lines claims. */
  lastSeq: number
  /** Bytes up to there. */
  bytes: number
  tail: EventEntry[]
  /** Whether the entry of this place is in it, or it begins right after it. */
  hashes(place: ChainEnd): boolean
}

async function readEnd(path: string, { first, prev }: Segment, tailLength: number): Promise<SegmentEnd> {
  const handle = await open(path, 'r')
  const known = new Map<number, string>([[first - 1, prev]])
  const lines: Buffer[] = []
  let end: ChainEnd | undefined
  let bytes = 0
  let lastSeq = first
  try {
    // A segment is a few megabytes.
    const text = await handle.readFile()
    for (let from = 0; from < text.length; ) {
      const newline = text.indexOf(0x0a, from)
      if (newline === -1) break
      const line = text.subarray(from, newline)
      const place = placeOf(line)
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
  const tail = lines.slice(-tailLength).flatMap((line) => entryOf(line) ?? [])
  return { end, lastSeq, bytes, tail, hashes: (place) => known.get(place.seq) === place.hash }
}

import { type ByteRange, endOf, type Fragment, type FragmentTable, type KeyFrameRange } from './fragments.ts'

/** Ranges of a file and inserted bytes that together play a span. */
export interface SpanPieces {
  pieces: (ByteRange | Uint8Array)[]
  /** Total size in bytes. */
  bytes: number
  /** Media time of the first picture and of the end, in seconds. */
  from: number
  to: number
}

/**
 * Finds init and fragments of a span: the overlapping fragments, starting with the fragment needed to decode `from`.
 * @param from seconds of media time
 * @param maxBytes maximum size of the fragments; at least one fragment is returned
 * @returns undefined: the span starts after the end
 */
export function spanPiecesOf(table: FragmentTable, from: number, to: number, maxBytes: number): SpanPieces | undefined {
  const { fragments, init } = table
  const begin = firstFragment(fragments, from)
  const first = fragments[begin]
  if (first === undefined || endOf(fragments.slice(begin)) <= from) return undefined
  const taken: Fragment[] = []
  let bytes = 0
  for (const fragment of fragments.slice(begin)) {
    bytes += fragment.bytes
    const isBehind = fragment.start >= to && !isTailOf(taken, fragment)
    if (taken.length > 0 && (isBehind || bytes > maxBytes)) break
    taken.push(fragment)
  }
  const pieces = [init, ...taken.flatMap(withSize)]
  const length = pieces.reduce((sum, piece) => sum + (piece instanceof Uint8Array ? piece.length : piece.bytes), 0)
  return { pieces, bytes: length, from: first.start, to: endOf(taken) }
}

/**
 * Whether a fragment contains only sound that overlaps earlier fragments. The recorder writes such sound after the last
 * picture.
 */
function isTailOf(others: readonly Fragment[], { pictures, start }: Fragment): boolean {
  return pictures === 0 && start < endOf(others) - 0.001
}

/**
 * Inserts the size of a cluster of unknown size. Otherwise the browser waits for the next cluster before it shows the
 * last picture.
 */
function withSize({ offset, bytes, unsizedHeader }: Fragment): (ByteRange | Uint8Array)[] {
  if (unsizedHeader === undefined) return [{ offset, bytes }]
  const content = bytes - unsizedHeader
  const header = Buffer.alloc(12)
  header.writeUInt32BE(clusterId)
  // Size in eight bytes, with the marker of that length (RFC 8794, section 4).
  header.writeBigUInt64BE(BigInt(content) | (1n << 56n), 4)
  return [header, { offset: offset + unsizedHeader, bytes: content }]
}

const clusterId = 0x1f43_b675

/**
 * Finds the latest fragment that starts at or before a time; for pictures, the fragment with the preceding key frame.
 * Sound after the last picture needs no key frame.
 */
function firstFragment(fragments: readonly Fragment[], time: number): number {
  let [low, high] = [0, fragments.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((fragments[middle]?.start ?? 0) <= time + 0.001) low = middle
    else high = middle
  }
  const pictured = fragments.slice(0, low + 1).findLast(({ pictures }) => pictures > 0)
  const isShown = pictured !== undefined && (pictured === fragments[low] || endOf([pictured]) > time)
  while (isShown && low > 0 && fragments[low]?.startsWithKey !== true) low -= 1
  return low
}

/** Returns the last key frame at or before a time, otherwise the first key frame. @param time seconds of media time */
export function keyFrameAt({ fragments }: FragmentTable, time: number): KeyFrameRange | undefined {
  let found: KeyFrameRange | undefined
  for (const { keyFrames, start } of fragments) {
    if (start > time && found !== undefined) break
    for (const key of keyFrames) if (found === undefined || key.time <= time + 0.001) found = key
  }
  return found
}

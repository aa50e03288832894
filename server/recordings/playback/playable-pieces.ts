import { type ByteRange, endOf, type Fragment, type FragmentTable, type KeyFrameRange } from './fragments.ts'

/** Ranges of a file and inserted bytes that together play a span. */
interface SpanPieces {
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

/** Duration of the picture, in ticks of the track. The value has no effect, because the video has only one picture. */
const pictureTicks = 1_000
/** `default-base-is-moof` (ISO/IEC 14496-12, section 8.8.7.1). */
const baseIsMoof = 0x02_0000
/** Data offset, duration, size and flags of each sample. */
const runFields = 0x00_0701
/** A sync sample that depends on no other sample. */
const syncSample = 0x0200_0000

/**
 * Makes a video of one picture: the init and a fragment with only the key frame. A browser can show it like any video,
 * regardless of the codec.
 */
export function filmOfPicture(table: FragmentTable, init: Uint8Array, picture: Uint8Array): Uint8Array {
  const track = table.tracks.find(({ type }) => type === 'video')?.id ?? 1
  return table.container === 'mp4'
    ? Buffer.concat([init, fragmentOf(track, picture)])
    : Buffer.concat([init, clusterOf(track, picture)])
}

function fragmentOf(track: number, picture: Uint8Array): Buffer {
  const run = (offset: number): Buffer =>
    box('trun', u32(runFields), u32(1), u32(offset), u32(pictureTicks), u32(picture.length), u32(syncSample))
  const moof = (offset: number): Buffer =>
    box(
      'moof',
      box('mfhd', u32(0), u32(1)),
      box('traf', box('tfhd', u32(baseIsMoof), u32(track)), box('tfdt', u32(0), u32(0)), run(offset)),
    )
  // The picture starts after the header of its mdat.
  const { length } = moof(0)
  return Buffer.concat([moof(length + 8), box('mdat', picture)])
}

function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const data = Buffer.concat(content)
  return Buffer.concat([u32(data.length + 8), Buffer.from(type, 'latin1'), data])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Returns a cluster at time 0 with one simple block (RFC 9559, section 10.2). */
function clusterOf(track: number, picture: Uint8Array): Buffer {
  const time = element([0xe7], Buffer.from([0]))
  const block = element([0xa3], Buffer.concat([Buffer.from([0x80 | track, 0, 0, 0x80]), picture]))
  return element([0x1f, 0x43, 0xb6, 0x75], Buffer.concat([time, block]))
}

function element(id: readonly number[], content: Uint8Array): Buffer {
  // Every size fits into eight bytes.
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(BigInt(content.length) | (1n << 56n))
  return Buffer.concat([Buffer.from(id), size, content])
}

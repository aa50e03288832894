import type { FragmentTable } from './fragments.ts'

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

import { smallPicture } from './small-picture.ts'

/** An H.264 picture that can be decoded by itself. */
interface KeyFrame {
  /** Annex B form of H.264: each NAL unit after a start code of four bytes, including the parameter sets. */
  frame: Uint8Array
  /** In pixels. */
  width: number
  height: number
}

/** Size of a thumbnail in pixels: twice its display size, for high-density screens. */
const thumbnailWidth = 320

/**
 * Makes a small JPEG of a picture, as a data URL.
 * @throws Error if the browser cannot decode it
 */
export async function thumbnail(picture: KeyFrame): Promise<string> {
  const film = mp4OfPicture(picture)
  if (film === undefined) throw new Error('the picture lacks its parameter sets')
  return await smallPicture(film, thumbnailWidth)
}

/** NAL unit types (H.264, table 7-1). */
const sequenceParameters = 7
const pictureParameters = 8
const delimiter = 9

/**
 * Makes a video file of one picture (ISO/IEC 14496-12 and -15): every browser decodes it, even on pages without a
 * secure context.
 * @returns undefined if the picture lacks its parameter sets
 */
function mp4OfPicture({ frame, width, height }: KeyFrame): Blob | undefined {
  const units = unitsOf(frame)
  const sps = units.find((unit) => typeOf(unit) === sequenceParameters)
  const pps = units.find((unit) => typeOf(unit) === pictureParameters)
  if (sps === undefined || pps === undefined || sps.length < 4) return undefined
  const sets: readonly number[] = [sequenceParameters, pictureParameters, delimiter]
  const sample = units.filter((unit) => !sets.includes(typeOf(unit))).flatMap((unit) => [uint32(unit.length), unit])
  const size = sample.reduce((sum, { length }) => sum + length, 0)
  const head = box('ftyp', ascii('isom'), uint32(512), ascii('isomiso2avc1mp41'))
  const movieOf = (offset: number): Uint8Array => movie(track({ sps, pps, width, height, size, offset }), width, height)
  // The length of the movie box does not depend on the offset in it.
  const offset = head.length + movieOf(0).length + 8
  return new Blob([plain(head), plain(movieOf(offset)), plain(box('mdat', ...sample))], { type: 'video/mp4' })
}

/** Splits a picture into NAL units. None contains a start code itself (H.264, section 7.4.1). */
function unitsOf(frame: Uint8Array): Uint8Array[] {
  const starts: number[] = []
  for (let at = 0; at + 4 <= frame.length; at++) {
    if (frame[at] === 0 && frame[at + 1] === 0 && frame[at + 2] === 0 && frame[at + 3] === 1) starts.push(at)
  }
  return starts.map((start, index) => frame.subarray(start + 4, starts[index + 1] ?? frame.length))
}

const typeOf = (unit: Uint8Array): number => (unit[0] ?? 0) & 0x1f

interface Track {
  sps: Uint8Array
  pps: Uint8Array
  width: number
  height: number
  /** Bytes of the picture, and its offset in the file. */
  size: number
  offset: number
}

/** Duration of the picture: one second, in ticks. */
const second = 1_000
const noMatrix = bytes(...[0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].flatMap((value) => [...uint32(value)]))

function movie(media: Uint8Array, width: number, height: number): Uint8Array {
  const times = [uint32(0), uint32(0)]
  const header = fullBox(
    'mvhd',
    0,
    ...times,
    uint32(second),
    uint32(second),
    uint32(0x10000),
    uint32(0x1000000),
    zeros(8),
    noMatrix,
    zeros(24),
    uint32(2),
  )
  const place = fullBox(
    'tkhd',
    7,
    ...times,
    uint32(1),
    zeros(4),
    uint32(second),
    zeros(16),
    noMatrix,
    uint32(width << 16),
    uint32(height << 16),
  )
  return box('moov', header, box('trak', place, media))
}

function track({ sps, pps, width, height, size, offset }: Track): Uint8Array {
  const configuration = box(
    'avcC',
    bytes(1, sps[1] ?? 0, sps[2] ?? 0, sps[3] ?? 0, 0xff, 0xe1),
    uint16(sps.length),
    sps,
    bytes(1),
    uint16(pps.length),
    pps,
  )
  const picture = box(
    'avc1',
    zeros(6),
    uint16(1),
    zeros(16),
    uint16(width),
    uint16(height),
    uint32(0x480000),
    uint32(0x480000),
    zeros(4),
    uint16(1),
    zeros(32),
    uint16(24),
    uint16(0xffff),
    configuration,
  )
  const table = box(
    'stbl',
    fullBox('stsd', 0, uint32(1), picture),
    fullBox('stts', 0, uint32(1), uint32(1), uint32(second)),
    fullBox('stsc', 0, uint32(1), uint32(1), uint32(1), uint32(1)),
    fullBox('stsz', 0, uint32(0), uint32(1), uint32(size)),
    fullBox('stco', 0, uint32(1), uint32(offset)),
  )
  const data = box('dinf', fullBox('dref', 0, uint32(1), fullBox('url ', 1)))
  return box(
    'mdia',
    fullBox('mdhd', 0, uint32(0), uint32(0), uint32(second), uint32(second), uint16(0x55c4), zeros(2)),
    fullBox('hdlr', 0, zeros(4), ascii('vide'), zeros(13)),
    box('minf', fullBox('vmhd', 1, zeros(8)), data, table),
  )
}

function box(type: string, ...parts: readonly Uint8Array[]): Uint8Array {
  return joined([uint32(8 + parts.reduce((sum, { length }) => sum + length, 0)), ascii(type), ...parts])
}

/** A box of version 0 with flags. */
function fullBox(type: string, flags: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return box(type, uint32(flags), ...parts)
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function bytes(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values)
}

function zeros(count: number): Uint8Array {
  return new Uint8Array(count)
}

function uint16(value: number): Uint8Array {
  return bytes(value >>> 8, value & 0xff)
}

function uint32(value: number): Uint8Array {
  return bytes(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff)
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Copies a part into its own memory, as Blob requires. */
function plain(part: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(part)
}

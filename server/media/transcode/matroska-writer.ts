/** Track description of Matroska (RFC 9559). */
export interface MatroskaTrack {
  /** Track number, from 1. */
  number: number
  /** Name in the Matroska codec mappings, e.g. `V_MPEGH/ISO/HEVC`. */
  codecId: string
  /** Data that a decoder needs before the first frame; undefined: none. */
  codecPrivate?: Buffer | undefined
  /** Picture size in pixels; `unknown`: the decoder determines the size. */
  video?: { width: number; height: number } | 'unknown' | undefined
  audio?: { sampleRate: number; channels: number } | undefined
}

/** Timestamp ticks per millisecond. */
export const ticksPerMs = 10

/** Element ids (RFC 8794 and RFC 9559, section 5.1). */
const ids = {
  ebml: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  muxer: 0x4d80,
  writer: 0x5741,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackUid: 0x73c5,
  trackType: 0x83,
  lacing: 0x9c,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  video: 0xe0,
  width: 0xb0,
  height: 0xba,
  audio: 0xe1,
  sampleRate: 0xb5,
  channels: 0x9f,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
} as const

/** Size of a segment that continues until the end of the stream (RFC 8794, section 6.2). */
const unknownSize = Buffer.from('01ffffffffffffff', 'hex')

/** Returns the header of a live Matroska stream. */
export function matroskaHeader(tracks: readonly MatroskaTrack[]): Buffer {
  const nanoseconds = 1_000_000 / ticksPerMs
  return Buffer.concat([
    element(ids.ebml, text(ids.docType, 'matroska')),
    idOf(ids.segment),
    unknownSize,
    element(
      ids.info,
      number(ids.timestampScale, nanoseconds),
      text(ids.muxer, 'roomdesk'),
      text(ids.writer, 'roomdesk'),
    ),
    element(ids.tracks, ...tracks.map(trackEntry)),
  ])
}

/**
 * Returns one frame in a separate cluster, which does not depend on the next frame.
 * @param at presentation time in ticks from the beginning, 0 to 2^47
 */
export function matroskaFrame(track: number, at: number, key: boolean, frame: Buffer): Buffer {
  const block = Buffer.from([0x80 | track, 0, 0, key ? 0x80 : 0])
  return element(ids.cluster, number(ids.timestamp, at), element(ids.simpleBlock, block, frame))
}

function trackEntry({ number: track, codecId, codecPrivate, video, audio }: MatroskaTrack): Buffer {
  const parts = [
    number(ids.trackNumber, track),
    number(ids.trackUid, track),
    number(ids.trackType, video === undefined ? 2 : 1),
    number(ids.lacing, 0),
    text(ids.codecId, codecId),
  ]
  if (codecPrivate !== undefined) parts.push(element(ids.codecPrivate, codecPrivate))
  if (video !== undefined) {
    const size = video === 'unknown' ? [] : [number(ids.width, video.width), number(ids.height, video.height)]
    parts.push(element(ids.video, ...size))
  }
  if (audio !== undefined) {
    const rate = Buffer.alloc(8)
    rate.writeDoubleBE(audio.sampleRate)
    parts.push(element(ids.audio, element(ids.sampleRate, rate), number(ids.channels, audio.channels)))
  }
  return element(ids.trackEntry, ...parts)
}

function element(id: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([idOf(id), sizeOf(length), ...parts])
}

function number(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(value, 0, 6)
  return element(id, bytes)
}

function text(id: number, value: string): Buffer {
  return element(id, Buffer.from(value, 'ascii'))
}

/** Encodes an id, which includes its length marker. */
function idOf(id: number): Buffer {
  const length = id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1
  const bytes = Buffer.alloc(length)
  bytes.writeUIntBE(id, 0, length)
  return bytes
}

/** Encodes a size in four bytes: 2^28 is more than any frame. */
function sizeOf(length: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length + 0x10000000)
  return bytes
}

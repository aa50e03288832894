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

/** Timestamp ticks per millisecond of the written stream. */
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
  blockGroup: 0xa0,
  block: 0xa1,
} as const

/** Ids of the master elements whose children are read. */
const entered: ReadonlySet<number> = new Set([ids.segment, ids.cluster, ids.blockGroup])
/** Maximum size of an element that is read, in bytes. No sound frame is larger. */
const largestElement = 1024 * 1024

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

/** A frame read from Matroska. */
export interface MatroskaFrame {
  /** Presentation time, in milliseconds. */
  at: number
  frame: Buffer
}

/**
 * Reads the frames of a Matroska stream with one track and millisecond ticks, and emits each frame as soon as it is
 * complete.
 */
export class MatroskaReader {
  readonly #take: (frame: MatroskaFrame) => void
  #rest: Buffer = Buffer.alloc(0)
  #clusterAt = 0

  constructor(take: (frame: MatroskaFrame) => void) {
    this.#take = take
  }

  /** @throws RangeError if this is not Matroska */
  push(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (;;) {
      const id = idAt(bytes)
      const size = id === undefined ? undefined : sizeAt(bytes, id.length)
      if (id === undefined || size === undefined) break
      const at = id.length + size.length
      if (entered.has(id.value)) {
        bytes = bytes.subarray(at)
        continue
      }
      if (size.value > largestElement) throw new RangeError('an element is too large')
      if (bytes.length < at + size.value) break
      this.#read(id.value, bytes.subarray(at, at + size.value))
      bytes = bytes.subarray(at + size.value)
    }
    this.#rest = bytes
  }

  #read(id: number, body: Buffer): void {
    if (id === ids.timestamp && body.length >= 1 && body.length <= 6) {
      this.#clusterAt = body.readUIntBE(0, body.length)
    } else if ((id === ids.simpleBlock || id === ids.block) && body.length > 4) {
      // The stream has one track, with a one-byte number and without lacing.
      this.#take({ at: this.#clusterAt + body.readInt16BE(1), frame: body.subarray(4) })
    }
  }
}

interface Field {
  value: number
  length: number
}

/** Reads an id of up to four bytes, including its length marker. */
function idAt(bytes: Buffer): Field | undefined {
  const [first] = bytes
  if (first === undefined) return undefined
  const length = Math.clz32(first) - 23
  if (length > 4) throw new RangeError('not a Matroska file')
  return bytes.length < length ? undefined : { value: bytes.readUIntBE(0, length), length }
}

/** Reads a size of up to eight bytes, without the length marker. An unknown size is returned as the largest size. */
function sizeAt(bytes: Buffer, from: number): Field | undefined {
  const first = bytes[from]
  if (first === undefined) return undefined
  const length = Math.clz32(first) - 23
  if (length > 8) throw new RangeError('not a Matroska file')
  if (bytes.length < from + length) return undefined
  let value = first & (0xff >> length)
  for (let index = 1; index < length; index++) value = value * 256 + (bytes[from + index] ?? 0)
  return { value, length }
}

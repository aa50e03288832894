import { BitReader } from '../base/bits.ts'
import { payloadOf, timestampOf } from '../rtp/packet.ts'
import { type FrameAssembly, largestFrame, type SourceFrame } from './frame-assembly.ts'

/** Layout of the AAC headers in RTP (RFC 3640, section 4.1). */
export interface AacLayout {
  sizeLength: number
  indexLength: number
  /** Duration of a frame, in ticks of the timestamp. */
  frameTicks: number
}

/** Maximum number of frames per packet; a longer list is broken. */
const maxFrames = 64

/** Whether bytes begin with the header of an ADTS frame (ISO/IEC 13818-7, section 6.2). */
function isAdts(bytes: Buffer): boolean {
  return bytes.length > 7 && bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xf6) === 0xf0
}

/** Returns a frame without the ADTS header that some cameras leave before it. */
function withoutAdts(frame: Buffer): Buffer {
  if (!isAdts(frame)) return frame
  const isProtected = ((frame[1] ?? 0) & 1) === 0
  return frame.subarray(isProtected ? 9 : 7)
}

/** Returns consecutive ADTS frames without their headers, up to a broken length. */
function adtsFrames(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = []
  for (let at = 0; frames.length < maxFrames && isAdts(bytes.subarray(at)); ) {
    const length = ((bytes.readUIntBE(at + 3, 3) & 0x3ffff) >> 5) >>> 0
    const frame = bytes.subarray(at, at + length)
    if (length < 8 || frame.length !== length) break
    frames.push(withoutAdts(frame))
    at += length
  }
  return frames
}

/**
 * Assembles AAC frames packed by RFC 3640: several in a packet, or one in several packets. Some cameras send ADTS
 * instead of this format or inside it, or bare frames.
 */
export class AacFrames implements FrameAssembly {
  readonly #layout: AacLayout
  readonly #take: (frame: SourceFrame) => void
  /** Parts of a frame that spans several packets. */
  #parts: Buffer[] = []
  #missing = 0
  #timestamp = 0

  constructor(layout: AacLayout, take: (frame: SourceFrame) => void) {
    this.#layout = layout
    this.#take = take
  }

  push(packet: Buffer): void {
    const payload = payloadOf(packet)
    const timestamp = timestampOf(packet)
    const { sizeLength, indexLength, frameTicks } = this.#layout
    if (payload.length < 2) return
    // The check is safe: read as a header length, the ADTS sync word would far exceed the packet.
    if (isAdts(payload)) {
      for (const [index, frame] of adtsFrames(payload).entries()) this.#give(timestamp + index * frameTicks, frame)
      return
    }
    if (sizeLength === 0) return this.#give(timestamp, payload)
    const headerBits = payload.readUInt16BE(0)
    // Some cameras omit the index from both the headers and the description, others from only one of the two.
    const hasIndex = headerBits % (sizeLength + indexLength) === 0 || headerBits % sizeLength !== 0
    const headerLength = sizeLength + (hasIndex ? indexLength : 0)
    const count = Math.min(maxFrames, Math.floor(headerBits / headerLength))
    let at = 2 + Math.ceil(headerBits / 8)
    if (count === 0 || at > payload.length) return
    const sizes = sizesOf(payload.subarray(2, at), count, sizeLength, headerLength)
    const [first = 0] = sizes
    if (count === 1 && (first > payload.length - at || this.#missing > 0)) {
      return this.#addPart(payload.subarray(at), first, timestamp)
    }
    this.#missing = 0
    for (const [index, size] of sizes.entries()) {
      const frame = payload.subarray(at, at + size)
      at += size
      if (size === 0 || frame.length !== size) return
      this.#give(timestamp + index * frameTicks, frame)
    }
  }

  #give(timestamp: number, frame: Buffer): void {
    this.#take({ timestamp: timestamp >>> 0, frame: withoutAdts(frame), key: true })
  }

  #addPart(part: Buffer, size: number, timestamp: number): void {
    if (timestamp !== this.#timestamp || this.#missing <= 0) {
      this.#parts = []
      this.#missing = Math.min(size, largestFrame)
      this.#timestamp = timestamp
    }
    this.#parts.push(part)
    this.#missing -= part.length
    if (this.#missing > 0) return
    const frame = Buffer.concat(this.#parts)
    this.#parts = []
    if (this.#missing === 0) this.#give(timestamp, frame)
    this.#missing = 0
  }
}

/** Reads the size at the beginning of each header. */
function sizesOf(headers: Buffer, count: number, sizeLength: number, headerLength: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    const begin = index * headerLength
    let size = 0
    for (let at = begin; at < begin + sizeLength; at++)
      size = size * 2 + (((headers[at >> 3] ?? 0) >> (7 - (at & 7))) & 1)
    return size
  })
}

/**
 * Assembles AAC packed by RFC 6416, with one frame per packet: its length in bytes of 255 and a remainder, followed by
 * the frame.
 */
export class LatmFrames implements FrameAssembly {
  readonly #take: (frame: SourceFrame) => void

  constructor(take: (frame: SourceFrame) => void) {
    this.#take = take
  }

  push(packet: Buffer): void {
    const payload = payloadOf(packet)
    let at = 0
    let length = 0
    while (payload[at] === 0xff) {
      length += 255
      at += 1
    }
    length += payload[at] ?? 0
    at += 1
    const frame = payload.subarray(at, at + length)
    if (length > 0 && frame.length === length) this.#take({ timestamp: timestampOf(packet), frame, key: true })
  }
}

/**
 * Returns the AudioSpecificConfig in a StreamMuxConfig of one program and one layer (ISO/IEC 14496-3, section 1.7.3).
 * The AudioSpecificConfig begins at bit 15. Returns undefined for any other StreamMuxConfig.
 */
export function latmConfig(hex: string): Buffer | undefined {
  const bytes = Buffer.from(hex.slice(0, 256), 'hex')
  if (bytes.length < 4) return undefined
  // audioMuxVersion 0, same framing for all, and a single subframe, program and layer.
  const fixed = new Array<number>(15).fill(0)
  fixed[1] = 1
  const bitAt = (index: number): number => ((bytes[index >> 3] ?? 0) >> (7 - (index & 7))) & 1
  if (fixed.some((bit, index) => bitAt(index) !== bit)) return undefined
  return Buffer.from(
    Array.from({ length: bytes.length - 2 }, (_, index) => {
      let byte = 0
      for (let bit = 0; bit < 8; bit++) byte = byte * 2 + bitAt(15 + index * 8 + bit)
      return byte
    }),
  )
}

/** Assembles sound whose packets contain only samples after an optional header. */
export class PlainFrames implements FrameAssembly {
  readonly #skip: number
  readonly #change: (samples: Buffer) => Buffer
  readonly #take: (frame: SourceFrame) => void

  /**
   * @param skip number of header bytes before the samples
   * @param change converts the samples for the decoder
   */
  constructor(take: (frame: SourceFrame) => void, skip = 0, change = (samples: Buffer): Buffer => samples) {
    this.#take = take
    this.#skip = skip
    this.#change = change
  }

  push(packet: Buffer): void {
    const samples = payloadOf(packet).subarray(this.#skip)
    if (samples.length > 0) this.#take({ timestamp: timestampOf(packet), frame: this.#change(samples), key: true })
  }
}

/**
 * Converts G.726 codewords from RTP order to the order of WAVE and AAL2. RTP puts the first codeword in the least
 * significant bits (RFC 3551, section 4.5.4); WAVE and AAL2 put it in the most significant bits.
 * @param bits per codeword: 2 to 5
 */
export function maxSignificantFirst(samples: Buffer, bits: number): Buffer {
  const out = Buffer.alloc(samples.length)
  const total = samples.length * 8
  for (let at = 0; at + bits <= total; at += bits) {
    for (let bit = 0; bit < bits; bit++) {
      const from = at + bit
      const to = at + bits - 1 - bit
      const value = ((samples[from >> 3] ?? 0) >> (from & 7)) & 1
      if (value === 1) out[to >> 3] = (out[to >> 3] ?? 0) | (0x80 >> (to & 7))
    }
  }
  return out
}

/**
 * Returns the sampling rate of an AudioSpecificConfig (ISO/IEC 14496-3, section 1.6.2.1), in Hz; undefined if it is
 * broken.
 */
export function aacSampleRate(config: Buffer): number | undefined {
  try {
    const bits = new BitReader(config)
    if (bits.bits(5) === 31) bits.skip(6)
    const index = bits.bits(4)
    return index === 15 ? bits.bits(24) : rates[index]
  } catch {
    // The configuration ends before its sample rate.
    return undefined
  }
}

/**
 * Returns the AudioSpecificConfig of AAC-LC (ISO/IEC 14496-3, section 1.6.2.1), for a camera that describes none.
 * @returns undefined for a rate without an index
 */
export function aacLcConfig(sampleRate: number, channels: number): Buffer | undefined {
  const index = rates.indexOf(sampleRate)
  if (index < 0 || channels < 1 || channels > 7) return undefined
  const bits = (2 << 11) | (index << 7) | (channels << 3)
  return Buffer.from([bits >> 8, bits & 0xff])
}

const rates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350]

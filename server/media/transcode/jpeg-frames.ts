import { hasMarker, payloadOf, timestampOf } from '../rtp/packet.ts'
import type { Resolution } from '../rtsp/resolution.ts'
import { type FrameAssembly, largestFrame, type SourceFrame } from './frame-assembly.ts'

/** Header of a picture in its packets (RFC 2435, section 3.1). */
interface JpegHead {
  type: number
  quality: number
  width: number
  height: number
  restartInterval: number
}

/**
 * Assembles Motion JPEG pictures (RFC 2435). Packets have only the scan; the JPEG headers are rebuilt from the packet
 * headers.
 */
export class JpegFrames implements FrameAssembly {
  readonly #take: (frame: SourceFrame) => void
  /** Quantization tables of quality 128 to 254, which a camera may send only once. */
  readonly #tables = new Map<number, Buffer>()
  #parts: Buffer[] = []
  #bytes = 0
  #timestamp = -1
  readonly #described: Resolution | undefined

  /** @param described size of pictures that are too large for the packet header */
  constructor(take: (frame: SourceFrame) => void, described?: Resolution) {
    this.#take = take
    this.#described = described
  }

  push(packet: Buffer): void {
    const payload = payloadOf(packet)
    const timestamp = timestampOf(packet)
    if (payload.length < 9) return
    const offset = payload.readUIntBE(1, 3)
    const head: JpegHead = {
      type: payload[4] ?? 0,
      quality: payload[5] ?? 0,
      width: (payload[6] ?? 0) * 8,
      height: (payload[7] ?? 0) * 8,
      restartInterval: 0,
    }
    // Sizes above 2,040 pixels do not fit the packet header (RFC 2435, section 3.1.5).
    if ((head.width === 0 || head.height === 0) && offset === 0) {
      const size = extensionSize(packet) ?? this.#described
      if (size === undefined) return this.#forget()
      Object.assign(head, size)
    }
    let at = 8
    if (head.type >= 64) {
      if (payload.length < at + 4) return
      head.restartInterval = payload.readUInt16BE(at)
      at += 4
    }
    if (offset === 0) {
      const tables = this.#tablesOf(payload, at, head.quality)
      if (tables === undefined) return this.#forget()
      if (head.quality >= 128) at += 4 + payload.readUInt16BE(at + 2)
      this.#begin(head, tables, timestamp)
    }
    const scan = payload.subarray(at)
    // A packet is missing, so the picture is dropped.
    if (timestamp !== this.#timestamp || offset !== this.#bytes || this.#bytes + scan.length > largestFrame) {
      return this.#forget()
    }
    this.#parts.push(scan)
    this.#bytes += scan.length
    if (!hasMarker(packet)) return
    const frame = Buffer.concat([...this.#parts, endOfImage])
    this.#forget()
    this.#take({ timestamp, frame, key: true })
  }

  #begin(head: JpegHead, tables: Buffer, timestamp: number): void {
    this.#timestamp = timestamp
    this.#bytes = 0
    this.#parts = [pictureHead(head, tables)]
  }

  #forget(): void {
    this.#timestamp = -1
    this.#bytes = 0
    this.#parts = []
  }

  /** Returns two tables of 64 bytes; undefined if they are unknown or have another precision. */
  #tablesOf(payload: Buffer, at: number, quality: number): Buffer | undefined {
    if (quality < 128) return quality === 0 ? undefined : defaultTables(quality)
    if (payload.length < at + 4) return undefined
    const length = payload.readUInt16BE(at + 2)
    if (length === 0) return this.#tables.get(quality)
    const tables = payload.subarray(at + 4, at + 4 + length)
    if ((payload[at + 1] ?? 0) !== 0 || tables.length !== length || length !== 2 * 64) return undefined
    // Copied, because the packet is not kept. Tables of quality 255 may change with each picture.
    if (quality < 255) this.#tables.set(quality, Buffer.from(tables))
    return tables
  }
}

/** Profile of the header extension with a picture's JPEG headers (ONVIF Streaming Specification, section 5.1.3). */
const jpegExtension = 0xffd8

/** Returns the size in the frame header that ONVIF puts into the header extension; undefined if there is none. */
function extensionSize(packet: Buffer): Resolution | undefined {
  const fixed = 12 + ((packet[0] ?? 0) & 0x0f) * 4
  if (((packet[0] ?? 0) & 0x10) === 0 || packet.length < fixed + 4 || packet.readUInt16BE(fixed) !== jpegExtension)
    return undefined
  const end = Math.min(packet.length, fixed + 4 + packet.readUInt16BE(fixed + 2) * 4)
  for (let at = fixed + 4; at + 9 <= end && packet[at] === 0xff; at += 2 + packet.readUInt16BE(at + 2)) {
    const marker = packet[at + 1] ?? 0
    // Start of frame, baseline to progressive (ITU-T T.81, section B.2.2).
    if (marker >= 0xc0 && marker <= 0xc2)
      return { height: packet.readUInt16BE(at + 5), width: packet.readUInt16BE(at + 7) }
  }
  return undefined
}

const endOfImage = Buffer.from([0xff, 0xd9])

/** Returns everything before the scan (ITU-T T.81, annex B). */
function pictureHead({ type, width, height, restartInterval }: JpegHead, tables: Buffer): Buffer {
  // Chroma is halved in one direction (types 0 and 64) or in both directions (types 1 and 65).
  const luma = (type & 1) === 0 ? 0x21 : 0x22
  const restart = segment(0xdd, [restartInterval >> 8, restartInterval & 0xff])
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, [0, ...tables.subarray(0, 64)]),
    segment(0xdb, [1, ...tables.subarray(64)]),
    ...(restartInterval === 0 ? [] : [restart]),
    segment(0xc0, [8, height >> 8, height & 0xff, width >> 8, width & 0xff, 3, 1, luma, 0, 2, 0x11, 1, 3, 0x11, 1]),
    ...codeTables.map(({ place, counts, symbols }) => segment(0xc4, [place, ...counts, ...symbols])),
    segment(0xda, [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]),
  ])
}

function segment(marker: number, bytes: readonly number[]): Buffer {
  const length = bytes.length + 2
  return Buffer.from([0xff, marker, length >> 8, length & 0xff, ...bytes])
}

/** A Huffman table: number of codes of each length from 1 to 16, and their symbols. */
interface CodeTable {
  /** Class and number as in the header. */
  place: number
  counts: readonly number[]
  symbols: readonly number[]
}

const table = (place: number, counts: string, symbols: string): CodeTable => ({
  place,
  counts: [...Buffer.from(counts, 'hex')],
  symbols: [...Buffer.from(symbols, 'hex')],
})

/** Tables that RTP omits: luma and chroma, DC and AC (ITU-T T.81, section K.3). */
const codeTables: readonly CodeTable[] = [
  table(0x00, '00010501010101010100000000000000', '000102030405060708090a0b'),
  table(
    0x10,
    '0002010303020403050504040000017d',
    '01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a43444546' +
      '4748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6' +
      'b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa',
  ),
  table(0x01, '00030101010101010101010000000000', '000102030405060708090a0b'),
  table(
    0x11,
    '00020102040403040705040400010277',
    '000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a35363738393a434445' +
      '464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4' +
      'b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa',
  ),
]

/** Quantization tables of luma and chroma at quality 50, in zigzag order (RFC 2435, appendix A). */
const lumaQuantization = [
  16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51, 61,
  60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87, 95, 98, 103, 104, 103, 62, 77, 113, 121,
  112, 100, 120, 92, 101, 103, 99,
]
const chromaQuantization = [17, 18, 18, 24, 21, 24, 47, 26, 26, 47, 99, 66, 56, 66]

/** Returns both tables of a quality from 1 to 99 (RFC 2435, section 4.2); higher values count as 99. */
function defaultTables(quality: number): Buffer {
  const within = Math.min(99, Math.max(1, quality))
  const scale = within < 50 ? Math.floor(5_000 / within) : 200 - within * 2
  const scaled = (value: number): number => Math.min(255, Math.max(1, Math.floor((value * scale + 50) / 100)))
  return Buffer.from(
    [...lumaQuantization, ...Array.from({ length: 64 }, (_, index) => chromaQuantization[index] ?? 99)].map(scaled),
  )
}

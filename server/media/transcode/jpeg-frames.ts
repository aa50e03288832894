import type { Resolution } from '../rtsp/resolution.ts'
import { hasMarker, payloadOf, timestampOf } from '../rtp/packet.ts'
import { type FrameAssembly, largestFrame, type SourceFrame } from './frame-assembly.ts'
import { codeTables, defaultTables } from './jpeg-tables.ts'

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

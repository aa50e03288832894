import { largestFrame } from './frame-assembly.ts'

/** A picture as ffmpeg encoded it. */
export interface EncodedPicture {
  /** Presentation time, in milliseconds. */
  at: number
  /** NAL units of H.264, or one VP8 frame. */
  units: Buffer[]
}

/** Sizes of FLV: the file header with the first tag size, and the header of each tag. */
const flvHeaderBytes = 13
const tagHeaderBytes = 11
const videoTag = 9

/** Sizes of IVF: the file header, and the header of each frame with a size of four bytes and a time of eight bytes. */
const ivfHeaderBytes = 32
const frameHeaderBytes = 12

/**
 * Reads H.264 from an FLV stream (Video File Format Specification 10.1, annex E), where each NAL unit is preceded by a
 * length of four bytes. Emits each picture as soon as it is complete.
 */
export class FlvReader {
  readonly #take: (picture: EncodedPicture) => void
  #chunks: Buffer[] = []
  #bytes = 0
  /** Minimum number of bytes for the next step. */
  #needed = flvHeaderBytes
  #begun = false
  /** Parameter sets, inserted before each key frame. */
  #sets: Buffer[] = []

  constructor(take: (picture: EncodedPicture) => void) {
    this.#take = take
  }

  /** @throws RangeError if this is not FLV */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes < this.#needed) return
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    while (rest.length >= this.#needed) rest = this.#step(rest)
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#bytes = rest.length
  }

  #step(bytes: Buffer): Buffer {
    if (!this.#begun) {
      if (bytes.toString('latin1', 0, 3) !== 'FLV') throw new RangeError('not an FLV file')
      this.#begun = true
      this.#needed = tagHeaderBytes
      return bytes.subarray(flvHeaderBytes)
    }
    const size = bytes.readUIntBE(1, 3)
    // Includes the tag size that follows each tag.
    const whole = tagHeaderBytes + size + 4
    if (size > largestFrame) throw new RangeError('a tag is too large')
    if (bytes.length < whole) {
      this.#needed = whole
      return bytes
    }
    if (((bytes[0] ?? 0) & 0x1f) === videoTag && size >= 5) {
      const at = ((bytes[7] ?? 0) * 2 ** 24 + bytes.readUIntBE(4, 3)) >>> 0
      this.#readVideo(bytes.subarray(tagHeaderBytes, tagHeaderBytes + size), at)
    }
    this.#needed = tagHeaderBytes
    return bytes.subarray(whole)
  }

  #readVideo(body: Buffer, at: number): void {
    const key = (body[0] ?? 0) >> 4 === 1
    const kind = body[1] ?? 0
    // Sequence header (0) or picture (1), followed by a composition time.
    if (kind === 0) this.#sets = setsOf(body.subarray(5))
    if (kind !== 1) return
    const units = unitsOf(body, 5, 4)
    if (units.length > 0) this.#take({ at, units: key ? [...this.#sets, ...units] : units })
  }
}

/** Returns the parameter sets of an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, section 5.3.3.1). */
function setsOf(record: Buffer): Buffer[] {
  const sequence = (record[5] ?? 0) & 0x1f
  const first = unitsOf(record, 6, 2, sequence)
  const at = 6 + first.reduce((sum, { length }) => sum + 2 + length, 0)
  return [...first, ...unitsOf(record, at + 1, 2, record[at] ?? 0)]
}

function unitsOf(bytes: Buffer, from: number, lengthBytes: number, maxUnits = Infinity): Buffer[] {
  const units: Buffer[] = []
  for (let at = from; at + lengthBytes <= bytes.length && units.length < maxUnits; ) {
    const length = bytes.readUIntBE(at, lengthBytes)
    at += lengthBytes
    if (length > 0 && at + length <= bytes.length) units.push(bytes.subarray(at, at + length))
    at += length
  }
  return units
}

/**
 * Reads frames from an IVF stream and emits each frame as soon as it is complete. The file header of 32 bytes contains
 * the time unit; each frame has size, time and data. All numbers are little-endian.
 */
export class IvfReader {
  readonly #take: (picture: EncodedPicture) => void
  #rest: Buffer = Buffer.alloc(0)
  /** Time unit in milliseconds; undefined before the header. */
  #unitMs: number | undefined

  constructor(take: (picture: EncodedPicture) => void) {
    this.#take = take
  }

  /** @throws RangeError if this is not IVF */
  push(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (this.#unitMs === undefined && bytes.length >= ivfHeaderBytes) {
      if (bytes.toString('latin1', 0, 4) !== 'DKIF') throw new RangeError('not an IVF file')
      const [rate, scale] = [bytes.readUInt32LE(16), bytes.readUInt32LE(20)]
      if (rate === 0) throw new RangeError('its times have no unit')
      this.#unitMs = (scale * 1_000) / rate
      bytes = bytes.subarray(ivfHeaderBytes)
    }
    const unitMs = this.#unitMs
    while (unitMs !== undefined && bytes.length >= frameHeaderBytes) {
      const size = bytes.readUInt32LE(0)
      if (size > largestFrame) throw new RangeError('a frame is too large')
      const whole = frameHeaderBytes + size
      if (bytes.length < whole) break
      const at = Math.round(Number(bytes.readBigUInt64LE(4)) * unitMs)
      if (size > 0) this.#take({ at, units: [bytes.subarray(frameHeaderBytes, whole)] })
      bytes = bytes.subarray(whole)
    }
    this.#rest = bytes
  }
}

import type { EncodedPicture } from './encoded-picture.ts'

const fileHeaderBytes = 13
const tagHeaderBytes = 11
const videoTag = 9
/** Maximum size of a tag in bytes. No picture is larger. */
const largestTag = 8 * 1024 * 1024

/**
 * Reads H.264 from an FLV stream (Video File Format Specification 10.1, annex E), where each NAL unit is preceded by a
 * length of four bytes. Emits each picture as soon as it is complete.
 */
export class FlvReader {
  readonly #take: (picture: EncodedPicture) => void
  #chunks: Buffer[] = []
  #bytes = 0
  /** Minimum number of bytes for the next step. */
  #needed = fileHeaderBytes
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
      return bytes.subarray(fileHeaderBytes)
    }
    const size = bytes.readUIntBE(1, 3)
    // Includes the tag size that follows each tag.
    const whole = tagHeaderBytes + size + 4
    if (size > largestTag) throw new RangeError('a tag is too large')
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

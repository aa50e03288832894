import type { EncodedPicture } from './encoded-picture.ts'

const fileHeaderBytes = 32
/** Size of a frame header: a size field of four bytes, and a time field of eight bytes. */
const frameHeaderBytes = 12
/** Maximum size of a frame in bytes. No picture is larger. */
const largestFrame = 8 * 1024 * 1024

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
    if (this.#unitMs === undefined && bytes.length >= fileHeaderBytes) {
      if (bytes.toString('latin1', 0, 4) !== 'DKIF') throw new RangeError('not an IVF file')
      const [rate, scale] = [bytes.readUInt32LE(16), bytes.readUInt32LE(20)]
      if (rate === 0) throw new RangeError('its times have no unit')
      this.#unitMs = (scale * 1_000) / rate
      bytes = bytes.subarray(fileHeaderBytes)
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

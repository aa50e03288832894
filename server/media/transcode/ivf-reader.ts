import type { EncodedPicture } from './encoded-picture.ts'

const fileHeaderBytes = 32
/** Size, and time of eight bytes. */
const frameHeaderBytes = 12
/** Nothing larger is a picture. */
const largestFrame = 8 * 1024 * 1024

/** Reads frames out of a stream of IVF, each as soon as it is whole: 32 bytes of header with the unit of time, then size, time and bytes of each frame, all in little-endian. */
export class IvfReader {
  readonly #take: (picture: EncodedPicture) => void
  #rest: Buffer = Buffer.alloc(0)
  /** Milliseconds of a unit of time; undefined before the header. */
  #unitMs: number | undefined

  constructor(take: (picture: EncodedPicture) => void) {
    this.#take = take
  }

  /** @throws RangeError when this is no IVF */
  push(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (this.#unitMs === undefined && bytes.length >= fileHeaderBytes) {
      if (bytes.toString('latin1', 0, 4) !== 'DKIF') throw new RangeError('it is no IVF')
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

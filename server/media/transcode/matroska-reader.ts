/** A frame read from Matroska. */
export interface MatroskaFrame {
  /** Presentation time, in milliseconds. */
  at: number
  frame: Buffer
}

/** Ids of the master elements whose children are read (RFC 9559, section 5.1). */
const entered = new Set([0x18538067, 0x1f43b675, 0xa0])
const clusterTimestamp = 0xe7
const simpleBlock = 0xa3
const block = 0xa1
/** Maximum size of an element in bytes. No sound frame is larger. */
const largestElement = 1024 * 1024

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
    if (id === clusterTimestamp && body.length >= 1 && body.length <= 6) {
      this.#clusterAt = body.readUIntBE(0, body.length)
    } else if ((id === simpleBlock || id === block) && body.length > 4) {
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

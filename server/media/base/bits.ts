/**
 * Reads bits and Exp-Golomb numbers from a NAL unit (ITU-T H.264, section 9.1), skipping emulation prevention bytes.
 */
export class BitReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(nal: Uint8Array) {
    this.#bytes = withoutEmulation(nal)
  }

  /** Reads one bit. @throws RangeError past the end */
  bit(): number {
    const byte = this.#bytes[this.#at >> 3]
    if (byte === undefined) throw new RangeError('past the end of the NAL unit')
    const bit = (byte >> (7 - (this.#at & 7))) & 1
    this.#at += 1
    return bit
  }

  /** Reads up to 32 bits. */
  bits(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++) value = value * 2 + this.bit()
    return value
  }

  skip(count: number): void {
    this.#at += count
  }

  /** Reads an unsigned Exp-Golomb number, ue(v). */
  unsigned(): number {
    let zeros = 0
    while (this.bit() === 0) {
      zeros += 1
      if (zeros > 31) throw new RangeError('not an Exp-Golomb number')
    }
    return 2 ** zeros - 1 + this.bits(zeros)
  }

  /** Reads a signed Exp-Golomb number, se(v). */
  signed(): number {
    const value = this.unsigned()
    return value % 2 === 0 ? -value / 2 : (value + 1) / 2
  }
}

/** Returns the bytes of a NAL unit without emulation prevention bytes. */
export function withoutEmulation(nal: Uint8Array): Uint8Array {
  const out = new Uint8Array(nal.length)
  let length = 0
  let zeros = 0
  for (const byte of nal) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0
      continue
    }
    zeros = byte === 0 ? zeros + 1 : 0
    out[length] = byte
    length += 1
  }
  return out.subarray(0, length)
}

/** Writes bits, the most significant first. */
export class BitWriter {
  #bytes: Buffer
  #at = 0
  #pending = 0
  #pendingBits = 0

  /** @param bytes expected length; the buffer grows beyond it */
  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafe(bytes)
  }

  /** Writes up to 24 bits. */
  write(value: number, count: number): void {
    this.#pending = (this.#pending << count) | value
    this.#pendingBits += count
    while (this.#pendingBits >= 8) {
      this.#pendingBits -= 8
      this.#put((this.#pending >>> this.#pendingBits) & 0xff)
    }
    this.#pending &= (1 << this.#pendingBits) - 1
  }

  /** Writes whole bytes; the place must be aligned. */
  append(bytes: Uint8Array): void {
    for (const byte of bytes) this.#put(byte)
  }

  /** Writes zero bits up to the next byte. */
  align(): void {
    if (this.#pendingBits > 0) this.write(0, 8 - this.#pendingBits)
  }

  /** Returns the complete bytes so far. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  #put(byte: number): void {
    if (this.#at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)])
    this.#bytes[this.#at] = byte
    this.#at += 1
  }
}

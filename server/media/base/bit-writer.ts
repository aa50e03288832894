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

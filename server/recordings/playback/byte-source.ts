/** Source with random access: a file, or an object of a storage. */
export interface ByteSource {
  /** Reads into a part of a buffer; fewer bytes at the end. @throws Error of the disk, ObjectError */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
  close(): Promise<void>
}

/** Number of bytes per read: the headers of one fragment mostly fit. */
const windowBytes = 16 * 1024

/** Reads small pieces of a file through one buffer, so that adjacent headers cost one read. */
export class HeaderReader {
  readonly #file: Pick<ByteSource, 'read'>
  /** Number of readable bytes of the file. */
  readonly size: number
  #window = Buffer.alloc(0)
  #offset = 0

  constructor(file: Pick<ByteSource, 'read'>, size: number) {
    this.#file = file
    this.size = size
  }

  /** Returns bytes from `offset`; fewer at the end of the file. The result is valid until the next call. */
  async bytes(offset: number, length: number): Promise<Buffer> {
    const available = Math.max(0, Math.min(length, this.size - offset))
    const held = offset >= this.#offset && offset + available <= this.#offset + this.#window.length
    if (!held) {
      const wanted = Math.min(Math.max(available, windowBytes), this.size - offset)
      const buffer = Buffer.allocUnsafe(Math.max(0, wanted))
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, offset)
      this.#window = buffer.subarray(0, bytesRead)
      this.#offset = offset
    }
    const from = offset - this.#offset
    return this.#window.subarray(from, from + available)
  }
}

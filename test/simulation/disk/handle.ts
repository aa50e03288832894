import type { Disk } from './disk.ts'
import { factsOf } from './facts.ts'

/** Bytes that one call writes at most of a whole file. */
const chunkBytes = 256 * 1024

/** The `FileHandle` of `node:fs/promises`, as far as the file driver uses it. */
export class SimulatedHandle {
  readonly #disk: Disk
  readonly fd: number

  constructor(disk: Disk, fd: number) {
    this.#disk = disk
    this.fd = fd
  }

  async read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): Promise<{ bytesRead: number; buffer: Uint8Array }> {
    const bytes = await this.#disk.read(this.fd, length, position ?? undefined)
    buffer.set(bytes, offset)
    return { bytesRead: bytes.length, buffer }
  }

  async write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): Promise<{ bytesWritten: number; buffer: Uint8Array }> {
    const bytes = buffer.subarray(offset, offset + length)
    return { bytesWritten: await this.#disk.write(this.fd, bytes, position ?? undefined), buffer }
  }

  async readFile(): Promise<Buffer> {
    const chunks: Buffer[] = []
    for (;;) {
      const bytes = await this.#disk.read(this.fd, chunkBytes, undefined)
      if (bytes.length === 0) return Buffer.concat(chunks)
      chunks.push(bytes)
    }
  }

  async writeFile(content: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(content)
    for (let done = 0; done < bytes.length; )
      done += await this.#disk.write(this.fd, bytes.subarray(done, done + chunkBytes), undefined)
  }

  async stat() {
    return factsOf(await this.#disk.statOpen(this.fd))
  }

  truncate(size = 0): Promise<void> {
    return this.#disk.truncate(this.fd, size)
  }

  sync(): Promise<void> {
    return this.#disk.sync(this.fd)
  }

  datasync(): Promise<void> {
    return this.#disk.sync(this.fd)
  }

  close(): Promise<void> {
    return this.#disk.close(this.fd)
  }
}

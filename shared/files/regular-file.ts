import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'

/** A path does not refer to a regular file, or the file is too large. */
class UnusableFileError extends Error {
  override readonly name = 'UnusableFileError'
  readonly code: 'NOT_A_FILE' | 'TOO_LARGE'

  constructor(code: UnusableFileError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Maximum size of a file with certificates, keys or passwords, in bytes. The largest lists of certificate authorities
 * have 300 kB.
 */
export const maxKeyFileBytes = 1_048_576

/**
 * Reads a whole file whose path was entered by a person. Refuses devices, pipes, sockets and folders, even behind a
 * link. A link to a file is accepted, because certbot creates such links.
 * @param maxBytes a larger file is refused
 * @throws UnusableFileError; Error of the file system
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer> {
  const refuse = (): never => {
    throw new UnusableFileError('NOT_A_FILE', `${path} is not a regular file.`)
  }
  // Checked before opening, because opening a device may have side effects, and opening a pipe waits for its other end.
  if (!(await stat(path)).isFile()) refuse()
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const found = await handle.stat()
    if (!found.isFile()) refuse()
    // Files in /proc report the size 0, and a file may grow, so one byte more than the reported size is read.
    const buffer = Buffer.alloc(Math.min(found.size, maxBytes) + 1)
    let bytes = 0
    for (let more = -1; more !== 0 && bytes < buffer.length; bytes += more)
      more = (await handle.read(buffer, bytes, buffer.length - bytes, bytes)).bytesRead
    if (found.size > maxBytes || bytes > maxBytes)
      throw new UnusableFileError('TOO_LARGE', `${path} has more than ${maxBytes} bytes.`)
    return buffer.subarray(0, bytes)
  } finally {
    await handle.close()
  }
}

import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'

/** A path is not a file that can be read completely. */
class UnusableFileError extends Error {
  override readonly name = 'UnusableFileError'
  readonly code: 'NOT_A_FILE' | 'TOO_LARGE'

  constructor(code: UnusableFileError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Maximum size of a file with certificates, keys or passwords, in bytes: the largest lists of authorities have 300 kB.
 */
export const maxKeyFileBytes = 1_048_576

/**
 * Reads a whole file whose path was entered by a person. Devices, pipes, sockets and folders are refused, even behind a
 * link; a link to a file is accepted, because certbot creates such links.
 * @param maxBytes a larger file is refused without being read
 * @throws UnusableFileError; Error of the file system
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer> {
  const refuse = (): never => {
    throw new UnusableFileError('NOT_A_FILE', `${path} is not a regular file.`)
  }
  // Opening a device may have side effects, and opening a pipe waits for its other end.
  if (!(await stat(path)).isFile()) refuse()
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const found = await handle.stat()
    if (!found.isFile()) refuse()
    // A file in /proc has no size, and a file may grow, so one byte more than allowed is read.
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

import { hasCode } from '../../../shared/error-code.ts'

/** Thrown when a file of the data folder exists but cannot be read. The message names the file and contains advice. */
export class StoreFileError extends Error {
  override readonly name = 'StoreFileError'
}

/**
 * Runs a read operation and returns its result.
 * @throws StoreFileError when the file system reports an error, because errors about an open file do not name the file;
 * ENOENT is rethrown
 */
export async function readingOf<T>(path: string, reading: () => Promise<T>): Promise<T> {
  try {
    return await reading()
  } catch (error) {
    if (hasCode(error, 'EISDIR')) throw notAFile(path, error)
    if (hasCode(error, 'EACCES', 'EPERM', 'EIO', 'ELOOP', 'ENOTDIR', 'ENXIO')) throw unreadable(path, error)
    throw error
  }
}

export function notAFile(path: string, cause?: unknown): StoreFileError {
  const message = `${path} is not a file: move it away, and put the file back from a copy of the data folder if there is one.`
  return new StoreFileError(message, { cause })
}

function unreadable(path: string, cause: unknown): StoreFileError {
  const said = cause instanceof Error ? cause.message : String(cause)
  const message = `${path} cannot be read (${said}): give the user that runs Roomdesk the right to read it, or, when the disk is at fault, put a copy of the whole data folder on another disk and start with that.`
  return new StoreFileError(message, { cause })
}

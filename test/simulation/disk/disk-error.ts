import { constants } from 'node:os'

/** Errors of the simulated file system. */
type Code = 'EBADF' | 'EEXIST' | 'EIO' | 'EISDIR' | 'ENOENT' | 'ENOSPC' | 'ENOTDIR' | 'ENOTEMPTY'

/** The error that Node gives for one of the kernel. */
export function diskError(code: Code, syscall: string, path: string): Error {
  const error = new Error(`${code}: ${syscall} '${path}'`)
  return Object.assign(error, { code, errno: -constants.errno[code], syscall, path })
}

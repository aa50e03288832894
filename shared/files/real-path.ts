import { constants, type BigIntStats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath, rm } from 'node:fs/promises'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { hasCode } from '../error-code.ts'
import { insideOf, type OwnPath, PathError } from './own-path.ts'

/**
 * Checks that no folder or file of a path is a link, because a less trusted program may write to the folder and could
 * create links. A missing path is accepted.
 * @param folder folder that contains the path; it may itself be a link
 * @throws PathError; Error of the file system
 */
export async function refuseLinks(folder: string, path: OwnPath): Promise<void> {
  await refuse(folder, path)
}

async function refuse(folder: string, path: string): Promise<void> {
  let current = await realpath(folder)
  const below = relative(folder, path)
  for (const part of below === '' ? [] : below.split(sep)) {
    if (part === '..' || isAbsolute(part)) throw new PathError(`${path} is not in ${folder}.`)
    current = insideOf(current, part)
    const found = await lstat(current).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error
      return undefined
    })
    if (found === undefined) return
    if (found.isSymbolicLink()) throw new PathError(`${current} is a link: files of recordings are never links.`)
  }
}

/** Mode of opening a file: for reading, for reading and writing, or for appending, which creates a missing file. */
export type OpenMode = 'read' | 'change' | 'append'

// Rejects links, and prevents a named pipe in place of a file from blocking a thread. Windows has neither flag.
const guarded = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const flags: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY | guarded,
  change: constants.O_RDWR | guarded,
  append: constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | guarded,
}

/**
 * Opens a regular file in a folder to which a less trusted program may write. The file is also checked after opening,
 * so that a link created in between is detected.
 * @throws PathError for a link, a device, or a replaced file; Error of the file system
 */
export async function openInside(folder: string, path: OwnPath, mode: OpenMode = 'read'): Promise<FileHandle> {
  // Checked before opening, because opening a device may have side effects, and a new file must not be created behind a
  // link.
  await refuseLinks(folder, path)
  const handle = await open(path, flags[mode], 0o640).catch((error: unknown) => {
    if (hasCode(error, 'ELOOP')) throw new PathError(`${path} is a link: files of recordings are never links.`)
    throw error
  })
  try {
    const opened = await handle.stat({ bigint: true })
    if (!opened.isFile()) throw new PathError(`${path} is not a regular file.`)
    await refuseOther(folder, path, handle, opened)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Checks that an open file is in the folder, even if the path has been replaced meanwhile.
 * @throws PathError; Error of the file system
 */
async function refuseOther(folder: string, path: OwnPath, handle: FileHandle, opened: BigIntStats): Promise<void> {
  // Linux reports the path of an open file, even after the file was renamed (proc_pid_fd(5)).
  const where = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
  if (where !== undefined) {
    if (!where.startsWith((await realpath(folder)) + sep)) throw new PathError(`${path} led out of ${folder}.`)
    return
  }
  const there = await lstat(path, { bigint: true })
  await refuseLinks(folder, path)
  if (!isSame(there, opened) || !isSame(await lstat(path, { bigint: true }), opened))
    throw new PathError(`${path} was replaced while it was opened.`)
}

/** Returns the size of a regular file. @throws PathError; Error of the file system, e.g. with the code ENOENT */
export async function sizeInside(folder: string, path: OwnPath): Promise<number> {
  await refuseLinks(folder, path)
  const found = await lstat(path)
  if (!found.isFile()) throw new PathError(`${path} is not a regular file.`)
  return found.size
}

/**
 * Removes a file, or a folder with its content; a missing path is ignored. If the path is a link, removes the link but
 * never its target.
 * @throws PathError; Error of the file system
 */
export async function removeInside(
  folder: string,
  path: OwnPath,
  options: { recursive?: boolean } = {},
): Promise<void> {
  if (await isMissing(folder)) return
  await refuse(folder, dirname(path))
  await rm(path, { force: true, ...options }).catch((error: unknown) => {
    // A file exists in place of one of the folders, so the path does not exist.
    if (!hasCode(error, 'ENOTDIR')) throw error
  })
}

/**
 * Creates an empty file, after removing any existing file with its name. For programs and libraries that open their
 * output by path, and would follow a link.
 * @throws PathError; Error of the file system
 */
export async function reserveInside(folder: string, path: OwnPath): Promise<OwnPath> {
  await removeInside(folder, path)
  await refuseLinks(folder, path)
  const handle = await open(path, 'wx', 0o600)
  await handle.close()
  return path
}

/**
 * Creates a folder and its parents.
 * @returns the first created folder, as `mkdir` does
 * @throws PathError; Error of the file system
 */
export async function makeInside(folder: string, path: OwnPath, mode = 0o777): Promise<string | undefined> {
  await refuseLinks(folder, path)
  const made = await mkdir(path, { recursive: true, mode })
  await refuseLinks(folder, path)
  return made
}

async function isMissing(folder: string): Promise<boolean> {
  return await lstat(folder).then(
    () => false,
    (error: unknown) => hasCode(error, 'ENOENT'),
  )
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev
}

import { constants } from 'node:fs'
import { copyFile, link, mkdir, open, readdir, rm } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { insideOf, isPathPart } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { renameFile } from '../system/rename-file.ts'

/**
 * Syncs a folder: a rename, link or unlink is durable only afterwards.
 * Windows neither has nor needs such a call.
 */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Creates a folder for its owner, if it does not exist, and makes its name durable. Otherwise a power failure could
 * lose the folder with all its files.
 */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await syncFolder(dirname(folder))
}

/** Syncs a file that another process wrote; a missing file is no error. */
export async function syncFile(path: string): Promise<void> {
  // Windows flushes only files that are open for writing.
  const handle = await open(path, 'r+').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  try {
    await handle?.sync()
  } finally {
    await handle?.close()
  }
}

/**
 * Makes the names of a new folder, and of parent folders created with it, durable. Folders that this program may not
 * read existed before.
 */
export async function syncFoldersAbove(folder: string): Promise<void> {
  for (let above = dirname(resolve(folder)); ; above = dirname(above)) {
    try {
      await syncFolder(above)
    } catch (error) {
      if (!hasCode(error, 'EACCES', 'EPERM', 'EINVAL', 'EROFS', 'ENOTSUP')) throw error
    }
    if (above === dirname(above)) return
  }
}

/** Returns the file names of a folder; empty if the folder does not exist. */
export async function listFolder(folder: string): Promise<string[]> {
  try {
    // Skips names that Roomdesk never creates.
    return (await readdir(folder)).filter(isPathPart)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

/**
 * Gives a file a second name that later rewrites of the first name do not affect. Makes a hard link, or a copy if links
 * are unavailable.
 * Replaces `to` atomically; on failure `to` is unchanged.
 */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  const temporary = `${to}.tmp`
  await rm(temporary, { force: true })
  await linkOrCopyNew(from, temporary)
  await renameFile(temporary, to)
  // Renaming one link of a file over another link of the same file has no effect (rename(2)).
  await rm(temporary, { force: true })
}

/**
 * Gives a file a second, unused name: a hard link, or a copy if links are unavailable (exFAT).
 * @throws EEXIST when the name exists
 */
export async function linkOrCopyNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EEXIST', 'ENOSPC', 'EIO')) throw error
    await copyDurably(from, to)
  }
}

/** Copies a file and syncs the copy; never overwrites. */
export async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL)
  const handle = await open(to, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Replaces the content of a file, which only its owner may read. After a crash the file has its old or its new content,
 * complete.
 */
export async function replaceDurably(path: string, text: string): Promise<void> {
  const temporary = `${path}.tmp`
  const handle = await open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await renameFile(temporary, path)
  await syncFolder(dirname(path))
}

/** Formats a time for file names: ISO 8601 with `-` instead of `:` and `.`. */
export function fileTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replaceAll(/[:.]/g, '-')
}

/**
 * Renames a damaged file to `<name>.damaged-<time>[-n]`, without overwriting an earlier file.
 * @param keep true: keeps the file, and copies it instead
 * @returns the new name, without folder
 */
export async function setAside(path: string, milliseconds: number, keep = false): Promise<string> {
  const folder = dirname(path)
  const stem = `${basename(path)}.damaged-${fileTime(milliseconds)}`
  const taken = new Set(await listFolder(folder))
  let name = stem
  for (let n = 2; taken.has(name); n++) name = `${stem}-${n}`
  if (keep) await copyDurably(path, insideOf(folder, name))
  else await renameFile(path, insideOf(folder, name))
  await syncFolder(folder)
  return name
}

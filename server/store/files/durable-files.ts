import { constants } from 'node:fs'
import { copyFile, link, mkdir, open, readdir, rm } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { insideOf, isPathPart } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { renameFile } from '../system/rename-file.ts'

/**
 * Makes the names in a folder durable: a rename, link or unlink is on disk only after its folder is synced.
 * Windows has no such call and needs none.
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

/** Makes a folder for its owner, unless it is there, and its name durable: a power cut would take all that is in it along. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await syncFolder(dirname(folder))
}

/** Makes the bytes of a file durable that another process wrote; one that is gone is no error. */
export async function syncFile(path: string): Promise<void> {
  // Windows flushes only what is open for writing.
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
 * Makes a folder durable that was just made, and the folders above it that were made with it: their names are on disk when it resolves. Folders that this program may not read were
 * there before.
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

/** The file names of a folder; none when the folder does not exist. */
export async function listFolder(folder: string): Promise<string[]> {
  try {
    // Roomdesk gives no file another kind of name.
    return (await readdir(folder)).filter(isPathPart)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

/**
 * Gives a file a second name that later rewrites of the first leave alone: a hard link, or a copy where links do not exist.
 * `to` is replaced at once, and stays as it is when this fails.
 */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  const temporary = `${to}.tmp`
  await rm(temporary, { force: true })
  await linkOrCopyNew(from, temporary)
  await renameFile(temporary, to)
  // Renaming one link of a file over another link of it does nothing (rename(2)).
  await rm(temporary, { force: true })
}

/**
 * Gives a file a second name, which must be free: a hard link, or a copy where links do not exist (exFAT).
 * @throws EEXIST when the name is taken
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

/** Replaces a file by one with this text, which only its owner may read: afterwards it is the old one or the new one, whole. */
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

/** The time as file names may hold it: ISO 8601 with `-` for `:` and `.`. */
export function fileTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replaceAll(/[:.]/g, '-')
}

/**
 * Puts a damaged file out of the way as `<name>.damaged-<time>[-n]` without ever overwriting an earlier one.
 * @param keep true: the file stays where it is, and a copy is put aside.
 * @returns the new name, without folder.
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

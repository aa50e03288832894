import { mkdir, open, readFile, rm, rmdir } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { insideOf } from '../shared/files/own-path.ts'
import { listFolder, syncFolder } from '../server/store/files/durable-files.ts'
import { renameFile } from '../server/store/system/rename-file.ts'

/**
 * Name of a file in the new folder while a move is in progress. It contains the names of all entries to move, as a JSON
 * list.
 */
const markName = 'moving.json'
/**
 * Chromium's lock file of a running app. It is not moved. The app that moves the folder has not created its own lock
 * file yet.
 */
export const lockName = 'lockfile'

/** The content is split between both folders, and can be moved neither forward nor back. */
export class HalfMovedError extends Error {
  override readonly name = 'HalfMovedError'
  readonly from: string
  readonly to: string

  constructor(from: string, to: string, cause: unknown) {
    super(
      `Half of the files of Roomdesk are in ${from} and half in ${to}: close other programs that use them, and start Roomdesk again.`,
      { cause },
    )
    this.from = from
    this.to = to
  }
}

/** Whether a move into this folder was interrupted. */
export const isHalfMoved = (to: string): boolean => existsSync(join(to, markName))

/**
 * Moves all entries of a folder into another folder by renaming them: nothing is copied. The names must not exist in
 * the new folder. Continues an interrupted move. If an entry cannot be moved, all entries are moved back.
 * @param rename renames one file or folder
 * @throws HalfMovedError if the entries cannot be moved back; otherwise the reason why nothing was moved
 */
export async function moveFolder(from: string, to: string, rename = renameFile): Promise<void> {
  const mark = join(to, markName)
  const names = isHalfMoved(to) ? await readMark(mark) : await namesToMove(from, to, mark)
  const move = async (name: string, source: string, target: string): Promise<void> => {
    if (!existsSync(insideOf(source, name))) return
    if (existsSync(insideOf(target, name))) throw new Error(`${name} is in both folders`)
    await rename(insideOf(source, name), insideOf(target, name))
  }
  try {
    for (const name of names) await move(name, from, to)
  } catch (reason) {
    try {
      for (const name of names) await move(name, to, from)
      await rm(mark)
    } catch {
      throw new HalfMovedError(from, to, reason)
    }
    throw reason
  }
  await syncFolder(to)
  await rm(mark)
  // Fails if an entry was added to the old folder meanwhile: that entry stays.
  await rmdir(from).catch(() => undefined)
}

/** Returns the names of the entries to move, and stores them durably in the file `mark`. */
async function namesToMove(from: string, to: string, mark: string): Promise<string[]> {
  const names = (await listFolder(from)).filter((name) => name !== lockName)
  const taken = names.find((name) => existsSync(insideOf(to, name)))
  if (taken !== undefined) throw new Error(`${taken} is in both folders`)
  await mkdir(to, { recursive: true, mode: 0o700 })
  const handle = await open(`${mark}.new`, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(names))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await renameFile(`${mark}.new`, mark)
  await syncFolder(to)
  return names
}

async function readMark(mark: string): Promise<string[]> {
  const names: unknown = JSON.parse(await readFile(mark, 'utf8'))
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

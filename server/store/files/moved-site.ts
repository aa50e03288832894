import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { segmentNumber } from '../journal/journal-line.ts'
import { documentNames, fileName, previousName } from './documents.ts'
import { fileTime, hasCode, listFolder, replaceDurably, syncFolder } from './durable-files.ts'
import { highWaterName } from './journal/high-water.ts'
import { StoreFileError } from './store-file-error.ts'

/** In a data folder whose site is in a database: where it is, as it may be shown. */
const movedName = 'moved-to.txt'

/** The files of a site's state in a data folder: documents, those before them, the journal. */
export async function filesOfSite(folder: string): Promise<string[]> {
  const names = new Set<string>([
    ...documentNames.flatMap((name) => [fileName(name), previousName(name)]),
    highWaterName,
  ])
  return (await listFolder(folder)).filter((name) => names.has(name) || segmentNumber(name) !== undefined)
}

/** Place that the site of a data folder was moved to; undefined: it was not moved. */
export async function movedTo(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(join(folder, movedName), 'utf8')).trim()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** @throws StoreFileError when the site of this folder is in a database */
export async function refuseMovedSite(folder: string): Promise<void> {
  const to = await movedTo(folder)
  if (to === undefined) return
  throw new StoreFileError(
    `The site of ${folder} was moved to ${to}: start with --store and that database, or move it back (--move-store files).`,
  )
}

/** @throws StoreFileError when the folder holds a site of its own: which of the two is meant nobody can say */
export async function refuseFilesOfSite(folder: string, shown: string): Promise<void> {
  if ((await filesOfSite(folder)).length === 0 || (await movedTo(folder)) !== undefined) return
  throw new StoreFileError(
    `${folder} holds a site in files: move it to ${shown} with --move-store database, or choose another data folder.`,
  )
}

/** The site is in a database from now on: no start takes files of this folder. @param to as it may be shown */
export async function sayMoved(folder: string, to: string): Promise<void> {
  await replaceDurably(join(folder, movedName), `${to}\n`)
}

/** The site is in the files. */
export async function unsayMoved(folder: string): Promise<void> {
  await rm(join(folder, movedName), { force: true })
  await syncFolder(folder)
}

/** Puts the files of a site into a folder of their own, where nothing reads them. @param now milliseconds since the epoch */
export async function putFilesAside(folder: string, now: number): Promise<void> {
  const aside = join(folder, `moved-${fileTime(now)}`)
  await mkdir(aside, { recursive: true, mode: 0o700 })
  for (const name of await filesOfSite(folder)) await rename(join(folder, name), join(aside, name))
  await syncFolder(aside)
  await syncFolder(folder)
}

import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { segmentNumber } from '../journal/journal-line.ts'
import { documentNames, fileName, previousName } from './documents.ts'
import { fileTime, listFolder, replaceDurably, syncFolder } from './durable-files.ts'
import { renameFile } from '../system/rename-file.ts'
import { highWaterName } from './journal/high-water.ts'
import { StoreFileError } from './store-file-error.ts'

/** In a data folder whose site is in a database, or on its way there or back: where it is, as it may be shown. */
const movedName = 'moved-to.txt'

/** Where a site is moved to. */
export type MoveTarget = 'database' | 'files'

/** The mark of a folder whose site was moved. */
export interface MoveMark {
  /** The database, as it may be shown. */
  database: string
  /** Set while the move is under way. */
  unfinished: MoveTarget | undefined
}

/** The files of a site's state in a data folder: documents, those before them, the journal. */
export async function filesOfSite(folder: string): Promise<string[]> {
  const names = new Set<string>([
    ...documentNames.flatMap((name) => [fileName(name), previousName(name)]),
    highWaterName,
  ])
  return (await listFolder(folder)).filter((name) => names.has(name) || segmentNumber(name) !== undefined)
}

/** The mark of a data folder; undefined: its site was never moved to a database, or is back. */
export async function readMoveMark(folder: string): Promise<MoveMark | undefined> {
  try {
    const [database = '', phase = ''] = (await readFile(join(folder, movedName), 'utf8')).trim().split('\n')
    const target = /^unfinished: (database|files)$/.exec(phase)?.[1] as MoveTarget | undefined
    // Earlier versions wrote no phase: files beside their mark say that the move was cut short.
    const isCutShort = phase === '' && (await filesOfSite(folder)).length > 0
    return { database, unfinished: target ?? (isCutShort ? 'database' : undefined) }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** @throws StoreFileError when the site of this folder is in a database, or on its way */
export async function refuseMovedSite(folder: string): Promise<void> {
  const mark = await readMoveMark(folder)
  if (mark === undefined) return
  refuseUnfinished(folder, mark)
  throw new StoreFileError(
    `The site of ${folder} was moved to ${mark.database}: start with --store and that database, or move it back (--move-store files).`,
  )
}

/** @throws StoreFileError when the folder holds a site of its own, or one that is on its way: which of the two is meant nobody can say */
export async function refuseFilesOfSite(folder: string, shown: string): Promise<void> {
  const mark = await readMoveMark(folder)
  if (mark !== undefined) refuseUnfinished(folder, mark)
  if (mark !== undefined || (await filesOfSite(folder)).length === 0) return
  throw new StoreFileError(
    `${folder} holds a site in files: move it to ${shown} with --move-store database, or choose another data folder.`,
  )
}

/** @throws StoreFileError when a move was cut short. @param unless towards this it may go on */
export function refuseUnfinished(folder: string, { database, unfinished }: MoveMark, unless?: MoveTarget): void {
  if (unfinished === undefined || unfinished === unless) return
  throw new StoreFileError(
    `The move of the site of ${folder} ${unfinished === 'files' ? `from ${database} to files` : `to ${database}`} was cut short: finish it with --move-store ${unfinished}, and --store with that database.`,
  )
}

/** The site is being moved: no start takes it until the move is finished. @param shown the database */
export async function beginMove(folder: string, shown: string, to: MoveTarget): Promise<void> {
  await replaceDurably(join(folder, movedName), `${shown}\nunfinished: ${to}\n`)
}

/** The site is in a database from now on: its files are only left over. @param shown the database */
export async function endMoveToDatabase(folder: string, shown: string): Promise<void> {
  await replaceDurably(join(folder, movedName), `${shown}\nfinished\n`)
}

/** The site is in the files. */
export async function endMoveToFiles(folder: string): Promise<void> {
  await rm(join(folder, movedName), { force: true })
  await syncFolder(folder)
}

/** Puts the files of a site into a folder of their own, where nothing reads them. @param now milliseconds since the epoch */
export async function putFilesAside(folder: string, now: number): Promise<void> {
  const aside = insideOf(folder, `moved-${fileTime(now)}`)
  await mkdir(aside, { recursive: true, mode: 0o700 })
  for (const name of await filesOfSite(folder)) await renameFile(insideOf(folder, name), insideOf(aside, name))
  await syncFolder(aside)
  await syncFolder(folder)
}

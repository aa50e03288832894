import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { segmentNumber } from '../journal/journal-line.ts'
import { documentNames, documentFileName, previousName } from './documents.ts'
import { fileTime, listFolder, replaceDurably, syncFolder } from './durable-files.ts'
import { renameFile } from '../system/rename-file.ts'
import { highWaterName } from './journal/high-water.ts'
import { StoreFileError } from './store-file-error.ts'

/**
 * File in a data folder whose site is in a database, or is being moved to or from a database. Contains the displayed
 * address of the database.
 */
const movedName = 'moved-to.txt'

export type MoveTarget = 'database' | 'files'

/** Mark of a folder whose site was moved. */
export interface MoveMark {
  /** The database, for display. */
  database: string
  /** Target of a move that is under way; undefined: no move is under way. */
  unfinished: MoveTarget | undefined
}

/** Returns the names of a site's files in a data folder: documents, their previous versions, the journal. */
export async function filesOfSite(folder: string): Promise<string[]> {
  const names = new Set<string>([
    ...documentNames.flatMap((name) => [documentFileName(name), previousName(name)]),
    highWaterName,
  ])
  return (await listFolder(folder)).filter((name) => names.has(name) || segmentNumber(name) !== undefined)
}

/** Reads the mark of a data folder; undefined: its site was never moved to a database, or was moved back. */
export async function readMoveMark(folder: string): Promise<MoveMark | undefined> {
  try {
    const [database = '', phase = ''] = (await readFile(join(folder, movedName), 'utf8')).trim().split('\n')
    const target = /^unfinished: (database|files)$/.exec(phase)?.[1] as MoveTarget | undefined
    // Earlier versions wrote no phase: files beside the mark show that the move was interrupted.
    const isCutShort = phase === '' && (await filesOfSite(folder)).length > 0
    return { database, unfinished: target ?? (isCutShort ? 'database' : undefined) }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** @throws StoreFileError when the site of this folder is in a database, or is being moved */
export async function refuseMovedSite(folder: string): Promise<void> {
  const mark = await readMoveMark(folder)
  if (mark === undefined) return
  refuseUnfinished(folder, mark)
  throw new StoreFileError(
    `The site of ${folder} was moved to ${mark.database}: start with --store and that database, or move it back (--move-store files).`,
  )
}

/**
 * @throws StoreFileError when the folder holds a site in files, or a site that is being moved: the intended site is
 * then ambiguous
 */
export async function refuseFilesOfSite(folder: string, shown: string): Promise<void> {
  const mark = await readMoveMark(folder)
  if (mark !== undefined) refuseUnfinished(folder, mark)
  if (mark !== undefined || (await filesOfSite(folder)).length === 0) return
  throw new StoreFileError(
    `${folder} holds a site in files: move it to ${shown} with --move-store database, or choose another data folder.`,
  )
}

/** @throws StoreFileError when a move was interrupted. @param unless direction in which the move may continue */
export function refuseUnfinished(folder: string, { database, unfinished }: MoveMark, unless?: MoveTarget): void {
  if (unfinished === undefined || unfinished === unless) return
  throw new StoreFileError(
    `The move of the site of ${folder} ${unfinished === 'files' ? `from ${database} to files` : `to ${database}`} was cut short: finish it with --move-store ${unfinished}, and --store with that database.`,
  )
}

/** Marks the site as being moved: it cannot be started until the move is finished. @param shown the database */
export async function beginMove(folder: string, shown: string, to: MoveTarget): Promise<void> {
  await replaceDurably(join(folder, movedName), `${shown}\nunfinished: ${to}\n`)
}

/** Marks the site as moved to a database: the files are leftovers. @param shown the database */
export async function endMoveToDatabase(folder: string, shown: string): Promise<void> {
  await replaceDurably(join(folder, movedName), `${shown}\nfinished\n`)
}

/** Removes the mark: the site is in the files. */
export async function endMoveToFiles(folder: string): Promise<void> {
  await rm(join(folder, movedName), { force: true })
  await syncFolder(folder)
}

/** Moves the files of a site into a separate folder that is never read. @param now milliseconds since the epoch */
export async function putFilesAside(folder: string, now: number): Promise<void> {
  const aside = insideOf(folder, `moved-${fileTime(now)}`)
  await mkdir(aside, { recursive: true, mode: 0o700 })
  for (const name of await filesOfSite(folder)) await renameFile(insideOf(folder, name), insideOf(aside, name))
  await syncFolder(aside)
  await syncFolder(folder)
}

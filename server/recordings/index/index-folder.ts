import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { hasCode } from '../../../shared/error-code.ts'
import { insideOf, isPathPart, type OwnPath } from '../../../shared/files/own-path.ts'
import { renameFileSync } from '../../store/system/rename-file.ts'
import { OtherSchemaError } from './index-tables.ts'
import { DamagedRowError } from './row.ts'

/** Subfolder of the data folder for the indexes, each in its own folder. */
const indexesFolder = 'recordings-index'
/** File in the folder of an index that contains the path of its recordings folder. */
const pathFile = 'recordings-folder.txt'
const idForm = /^[0-9a-f]{24}$/

/** Mark in a recordings folder that identifies its index. */
export interface IndexMark {
  /** Id of the index; undefined: no mark, or a mark of another site. */
  id: string | undefined
  /** Replaces the id in the mark. @throws Error of the file system */
  write(id: string): void
}

/**
 * Finds or creates the folder of the index of a recordings folder. The index is in the data folder, because the media
 * program may write to the recordings folder. An index of an earlier version in the recordings folder is moved once.
 * If the mark contains the id of an index that is missing here, another controller has used the recordings folder: a
 * new index is created, to be rebuilt from the files.
 * @returns existing folder of the index; an empty folder means that the index is new
 * @throws Error of the file system
 */
export function openIndexFolder(recordings: string, dataFolder: string, mark: IndexMark): OwnPath {
  const all = insideOf(dataFolder, indexesFolder)
  mkdirSync(all, { recursive: true, mode: 0o700 })
  const path = resolve(recordings)
  const moving = insideOf(all, `${createHash('sha256').update(path).digest('hex').slice(0, 16)}.moving`)
  const ofPath = indexesOf(all, path)
  const id = mark.id !== undefined && idForm.test(mark.id) ? mark.id : undefined
  // An earlier version ran in between and created its own index in the recordings folder. This index is not trusted:
  // other programs may have written it.
  const isStale = (id !== undefined || ofPath.length > 0) && !existsSync(moving) && removeOld(recordings)
  const [known = ''] = id === undefined ? ofPath : [id]
  if (!isStale && known !== '') {
    const folder = insideOf(all, known)
    // An earlier run ended between writing the mark and renaming the folder.
    if (id !== undefined && !existsSync(folder) && existsSync(moving)) renameFileSync(moving, folder)
    if (existsSync(folder)) {
      if (id === undefined) mark.write(known)
      writeFileSync(insideOf(folder, pathFile), path, { mode: 0o600 })
      return folder
    }
  }
  if (id === undefined && !isStale) collectOld(recordings, moving)
  return makeIndex(all, path, moving, ofPath, mark)
}

function makeIndex(all: OwnPath, path: string, moving: OwnPath, before: readonly string[], mark: IndexMark): OwnPath {
  const id = randomBytes(12).toString('hex')
  const folder = insideOf(all, id)
  mkdirSync(moving, { recursive: true, mode: 0o700 })
  writeFileSync(insideOf(moving, pathFile), path, { mode: 0o600 })
  mark.write(id)
  renameFileSync(moving, folder)
  // Removes indexes from before another controller used the recordings folder.
  for (const name of before) rmSync(insideOf(all, name), { recursive: true, force: true })
  return folder
}

/** Returns the ids of the local indexes of a recordings folder. */
function indexesOf(all: OwnPath, path: string): string[] {
  return readdirSync(all).filter((name) => {
    if (!idForm.test(name) || !isPathPart(name)) return false
    try {
      return readFileSync(insideOf(all, name, pathFile), 'utf8') === path
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      return false
    }
  })
}

/**
 * Moves the index of an earlier version, its write-ahead log first. If the program ends in between, the next start
 * continues.
 */
function collectOld(recordings: string, moving: OwnPath): void {
  for (const companion of companions.toReversed()) {
    const name = `${indexFile}${companion}`
    const old = insideOf(recordings, name)
    if (!isFile(old)) continue
    mkdirSync(moving, { recursive: true, mode: 0o700 })
    const target = insideOf(moving, name)
    try {
      renameFileSync(old, target)
    } catch (error) {
      if (!hasCode(error, 'EXDEV')) throw error
      copyDurably(old, target, insideOf(moving, `${name}.copy`))
      rmSync(old)
    }
  }
}

function copyDurably(from: OwnPath, to: OwnPath, temporary: OwnPath): void {
  copyFileSync(from, temporary)
  const handle = openSync(temporary, 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameFileSync(temporary, to)
}

/** Removes an index from the recordings folder. @returns whether an index was removed */
function removeOld(recordings: string): boolean {
  if (!isFile(insideOf(recordings, indexFile))) return false
  try {
    for (const companion of companions.toReversed())
      rmSync(insideOf(recordings, `${indexFile}${companion}`), { force: true })
    return true
  } catch {
    // The file stays and is ignored.
    return false
  }
}

/** Whether a path is a regular file. Links are ignored, because the media program could create one. */
function isFile(path: OwnPath): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** SQLite's codes of a damaged file and of a file in another format (sqlite.org/rescode.html). */
const damage = new Set([11, 26])

/** Whether an error means that the index has to be rebuilt. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedRowError || error instanceof OtherSchemaError) return true
  const code: unknown = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  // The low byte is the primary code, the rest extends it.
  return typeof code === 'number' && damage.has(code & 0xff)
}

/** Name of the index file in its folder. */
export const indexFile = 'index.sqlite'
/** Suffixes of SQLite's files: the index itself, its write-ahead log, and the shared memory of that log. */
export const companions = ['', '-wal', '-shm'] as const

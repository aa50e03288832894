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

/** Folder of the indexes in the data folder, with one folder for each. */
const indexesFolder = 'recordings-index'
/** File in the folder of an index with the path of its recordings folder. */
const pathFile = 'recordings-folder.txt'
const idForm = /^[0-9a-f]{24}$/

/** What names the index of a recordings folder, in that folder. */
export interface IndexMark {
  /** Id of its index; undefined: there is none, or what names it was not written by this site. */
  id: string | undefined
  /** Names another index. @throws Error of the file system */
  write(id: string): void
}

/**
 * Finds or makes the folder of the index of a recordings folder. It lies in the data folder, because the media program may write the recordings folder. An index that an earlier version
 * kept there is moved once. Where the mark names an index that is not here, another controller used the recordings folder since: a new index is made, to be rebuilt from the files.
 * @returns folder for the index, which exists; empty: the index is new
 * @throws Error of the file system
 */
export function openIndexFolder(recordings: string, dataFolder: string, mark: IndexMark): OwnPath {
  const all = insideOf(dataFolder, indexesFolder)
  mkdirSync(all, { recursive: true, mode: 0o700 })
  const path = resolve(recordings)
  const moving = insideOf(all, `${createHash('sha256').update(path).digest('hex').slice(0, 16)}.moving`)
  const ofPath = indexesOf(all, path)
  const id = mark.id !== undefined && idForm.test(mark.id) ? mark.id : undefined
  // An earlier version ran since: what it recorded is only in its own index, which others may have written.
  const isStale = (id !== undefined || ofPath.length > 0) && !existsSync(moving) && removeOld(recordings)
  const [known = ''] = id === undefined ? ofPath : [id]
  if (!isStale && known !== '') {
    const folder = insideOf(all, known)
    // The program ended between the mark and the new name.
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
  // Indexes that described this folder before another controller used it.
  for (const name of before) rmSync(insideOf(all, name), { recursive: true, force: true })
  return folder
}

/** Ids of the indexes here that describe a recordings folder. */
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

/** Moves the index of an earlier version, what was not yet written into it first: the program may end in between, and goes on at the next start. */
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

/** Removes an index in the recordings folder. @returns whether there was one and it is gone */
function removeOld(recordings: string): boolean {
  if (!isFile(insideOf(recordings, indexFile))) return false
  try {
    for (const companion of companions.toReversed())
      rmSync(insideOf(recordings, `${indexFile}${companion}`), { force: true })
    return true
  } catch {
    // It stays, and is not read.
    return false
  }
}

/** Links count as none: the media program could make one. */
function isFile(path: OwnPath): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** SQLite's codes of a damaged file, and of one that is none of its own (sqlite.org/rescode.html). */
const damage = new Set([11, 26])

/** Tells whether an error means that the index has to be rebuilt. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedRowError || error instanceof OtherSchemaError) return true
  const code: unknown = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  // The low byte is the primary code, the rest extends it.
  return typeof code === 'number' && damage.has(code & 0xff)
}

/** File of the index in its folder. */
export const indexFile = 'index.sqlite'
/** Suffixes of the files that SQLite keeps: the index itself, its write-ahead log, and the shared memory of that log. */
export const companions = ['', '-wal', '-shm'] as const

import { accessSync, constants, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { insideOf, type OwnPath, withSuffix } from '../../shared/files/own-path.ts'
import { errorCode } from '../../shared/error-code.ts'
import { renameFileSync } from '../store/system/rename-file.ts'
import type { Store } from '../store/store.ts'
import { type IndexMark, openIndexFolder } from './index/index-folder.ts'
import { isOwnMark, markName, parsedMark, type SiteMark, siteMark, unsealed } from './site-mark.ts'
import type { RecordingProblem } from '../../shared/domain/recordings.ts'

const place = ['recordings', 'folder']
const indexPlace = ['recordings', 'index']

/** Recordings folder, and the reason why it is unusable. */
export interface RecordingsFolder {
  path: string
  /** Problem of the folder; undefined: the folder is usable. */
  problem: { code: RecordingProblem; message: string } | undefined
  /** Folder of the index, in the data folder; empty: the recordings folder is unusable. */
  indexFolder: string
}

/**
 * Prepares the recordings folder at the start of a controller.
 * @param given path from a flag. It must exist, because it may be a disk that is not mounted. undefined: the folder in
 * the data folder, which is created
 */
export function openRecordingsFolder(
  given: string | undefined,
  dataFolder: string,
  store: Pick<Store, 'seal' | 'unseal'>,
): RecordingsFolder {
  const path = given ?? insideOf(dataFolder, 'recordings')
  try {
    if (given === undefined) mkdirSync(path, { recursive: true, mode: 0o700 })
    if (!existsSync(path)) {
      const message = `The recordings folder ${path} does not exist. Mount its disk or make the folder, and restart Roomdesk.`
      return { path, problem: { code: 'folderMissing', message }, indexFolder: '' }
    }
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    const mark = readMark(path, store)
    if (mark === 'otherSite') return { path, problem: otherSite(path), indexFolder: '' }
    return { path, problem: undefined, indexFolder: openIndexFolder(path, dataFolder, mark) }
  } catch (error) {
    const code = errorCode(error) || 'unknown'
    const refused = code === 'EACCES' || code === 'EROFS' || code === 'EPERM'
    const message = refused
      ? `The recordings folder ${path} cannot be written (${code}). Give the user of Roomdesk the right to write there, and restart Roomdesk.`
      : `The recordings folder ${path} cannot be used (${code}). Check its disk, and restart Roomdesk.`
    return { path, problem: { code: refused ? 'folderReadOnly' : 'folderFailed', message }, indexFolder: '' }
  }
}

/**
 * Whether the recordings folder of this site is present. Without its disk, the mount point is an empty folder without
 * the mark.
 */
export function isFolderPresent(path: string, store: Pick<Store, 'unseal'>): boolean {
  try {
    const mark = markIn(insideOf(path, markName))
    return mark !== undefined && isOwnMark(mark, place, store)
  } catch {
    // An unreadable mark proves nothing.
    return false
  }
}

/**
 * Reads the mark of a folder; a new folder is marked as this site's. The content is sealed with the site's key, which
 * other sites and the media program do not have.
 */
function readMark(path: string, store: Pick<Store, 'seal' | 'unseal'>): IndexMark | 'otherSite' {
  const file = insideOf(path, markName)
  const write = (id: string | undefined): void => {
    const mark = { ...siteMark(place, store), ...(id !== undefined && { index: store.seal(id, indexPlace) }) }
    const next = withSuffix(file, '.new')
    // A link at this path must not be followed.
    rmSync(next, { force: true })
    writeFileSync(next, `${JSON.stringify(mark)}\n`, { mode: 0o600, flag: 'wx' })
    renameFileSync(next, file)
  }
  const mark = markIn(file)
  if (mark === undefined) {
    write(undefined)
    return { id: undefined, write }
  }
  if (!isOwnMark(mark, place, store)) return 'otherSite'
  return { id: unsealed(mark.index, indexPlace, store), write }
}

function otherSite(path: string): RecordingsFolder['problem'] {
  const message = `The recordings folder ${path} belongs to another site. Choose another folder with --recordings-dir, or remove ${markName} from it to take its recordings over.`
  return { code: 'folderOfOtherSite', message }
}

/** Reads the fields of a mark; undefined if the file does not exist or is a link. */
function markIn(file: OwnPath): SiteMark | undefined {
  const isThere = lstatSync(file, { throwIfNoEntry: false })?.isFile() === true
  return isThere ? parsedMark(readFileSync(file, 'utf8')) : undefined
}

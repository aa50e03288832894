import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../shared/error-code.ts'
import type { RecordingProblem } from '../../shared/console/recordings.ts'
import type { Store } from '../store/store.ts'

/** File by which a folder belongs to one site. */
const markFile = 'roomdesk-recordings.json'
const place = ['recordings', 'folder']
const markText = 'recordings of this site'

/** A recordings folder, and why it cannot be used. */
export interface RecordingsFolder {
  path: string
  /** undefined: it can be used. */
  problem: { code: RecordingProblem; message: string } | undefined
}

/**
 * Prepares the recordings folder at the start of a controller.
 * @param given path of a flag, which must exist: it may be a disk that is not mounted; undefined: the folder in the data folder, which is made
 */
export function openRecordingsFolder(
  given: string | undefined,
  dataFolder: string,
  store: Pick<Store, 'seal' | 'unseal'>,
): RecordingsFolder {
  const path = given ?? join(dataFolder, 'recordings')
  try {
    if (given === undefined) mkdirSync(path, { recursive: true, mode: 0o700 })
    if (!existsSync(path)) {
      const message = `The recordings folder ${path} does not exist. Mount its disk or make the folder, and restart Roomdesk.`
      return { path, problem: { code: 'folderMissing', message } }
    }
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return { path, problem: markProblem(path, store) }
  } catch (error) {
    const code = errorCode(error) || 'unknown'
    const refused = code === 'EACCES' || code === 'EROFS' || code === 'EPERM'
    const message = refused
      ? `The recordings folder ${path} cannot be written (${code}). Give the user of Roomdesk the right to write there, and restart Roomdesk.`
      : `The recordings folder ${path} cannot be used (${code}). Check its disk, and restart Roomdesk.`
    return { path, problem: { code: refused ? 'folderReadOnly' : 'folderFailed', message } }
  }
}

/** Marks a new folder as this site's. The mark is sealed with the site's key, which another site has not. */
function markProblem(path: string, store: Pick<Store, 'seal' | 'unseal'>): RecordingsFolder['problem'] {
  const file = join(path, markFile)
  if (!existsSync(file)) {
    writeFileSync(file, `${JSON.stringify({ site: store.seal(markText, place) })}\n`, { mode: 0o600 })
    return undefined
  }
  if (isOwnMark(readFileSync(file, 'utf8'), store)) return undefined
  const message = `The recordings folder ${path} belongs to another site. Choose another folder with --recordings-dir, or remove ${markFile} from it to take its recordings over.`
  return { code: 'folderOfOtherSite', message }
}

function isOwnMark(text: string, store: Pick<Store, 'unseal'>): boolean {
  try {
    const { site } = JSON.parse(text) as { site?: unknown }
    return typeof site === 'string' && store.unseal(site, place) === markText
  } catch {
    return false
  }
}

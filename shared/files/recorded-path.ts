import { insideOf, isPathPart, type OwnPath, PathError } from './own-path.ts'

/**
 * Maximum number of levels below the recordings folder, including the file. The recorder uses three, but an operator
 * may have moved recordings deeper.
 */
const maxLevels = 16
const fileForm = /^[\w-]+\.(?:mp4|webm)$/

/**
 * Returns the path of a recording. The result is always a media file in the recordings folder.
 * @param file path below the recordings folder, with `/`; not trusted, because it may come from a row of the index, a
 * scan, or a listing of a bucket
 * @throws PathError
 */
export function recordedPath(folder: string, file: string): OwnPath {
  if (!isRecordedPath(file)) throw new PathError(`${JSON.stringify(file)} is not the path of a recording.`)
  return insideOf(folder, ...file.split('/'))
}

/** Whether a text is the path of a recording below the recordings folder. */
export function isRecordedPath(file: string): boolean {
  const parts = file.split('/')
  return parts.length <= maxLevels && parts.every((part) => isPathPart(part)) && fileForm.test(parts.at(-1) ?? '')
}

/** Returns the folder of a recording. @throws PathError if the recording is directly in the recordings folder */
export function recordedFolder(folder: string, file: string): OwnPath {
  return insideOf(folder, ...file.split('/').slice(0, -1))
}

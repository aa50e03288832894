import type { Stats } from 'node:fs'
import { lstat, mkdir, stat } from 'node:fs/promises'
import { hasCode } from '../error-code.ts'
import { insideOf } from './own-path.ts'

/** Another user owns a folder for files of this program, and could read, replace or add files. */
export class FolderOwnerError extends Error {
  override readonly name = 'FolderOwnerError'
}

/** Options for special folders, and for tests. */
export interface OwnerOptions {
  /** User id of this process; undefined: on Windows, where access control lists protect folders instead. */
  uid?: number | undefined
  /**
   * Names of files that identify an existing folder of this program. If this user owns one of them in the folder,
   * another owner of the folder is accepted, as is usual in containers.
   */
  known?: readonly string[]
}

/**
 * Creates a folder for this user. Refuses a folder that another user created in advance, even behind a link of that
 * user. Folders of root are accepted.
 * @param advice sentence about what the operator can do
 * @throws FolderOwnerError; Error of the file system
 */
export async function makeOwnFolder(
  folder: string,
  advice: string,
  { uid = process.getuid?.(), known = [] }: OwnerOptions = {},
): Promise<void> {
  // A folder created by this call belongs to this user, even if a network file system reports another owner.
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined || uid === undefined) return
  const isOther = (found: Stats): boolean => found.uid !== uid && found.uid !== 0
  const [link, target] = [await lstat(folder), await stat(folder)]
  const other = [link, target].find(isOther)
  if (other === undefined) return
  for (const name of known) {
    const file = await lstat(insideOf(folder, name)).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error
      return undefined
    })
    const isOfOther = link.isSymbolicLink() && isOther(link)
    if (!isOfOther && file?.uid === uid) return
  }
  throw new FolderOwnerError(
    `The folder ${folder} belongs to another user (uid ${other.uid}), who could read or replace what Roomdesk keeps there. ${advice}`,
  )
}

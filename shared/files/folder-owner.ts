import type { Stats } from 'node:fs'
import { lstat, mkdir, stat } from 'node:fs/promises'
import { hasCode } from '../error-code.ts'
import { insideOf } from './own-path.ts'

/** A folder for files of this program belongs to another user, who could read, replace or plant files. */
export class FolderOwnerError extends Error {
  override readonly name = 'FolderOwnerError'
}

/** Parts that tests replace. */
export interface OwnerOptions {
  /** User id of this process; undefined: the system has none (Windows), and access control lists decide. */
  uid?: number | undefined
  /**
   * File names that identify an existing folder of this program. If one of them exists, another owner is accepted, as
   * for folders of containers.
   */
  known?: readonly string[]
}

/**
 * Creates a folder for this user alone. A folder created in advance by another user is refused, even behind that user's
 * link; folders of root are accepted.
 * @param advice what the operator can do, as a sentence
 * @throws FolderOwnerError; Error of the file system
 */
export async function makeOwnFolder(
  folder: string,
  advice: string,
  { uid = process.getuid?.(), known = [] }: OwnerOptions = {},
): Promise<void> {
  // A folder created by this call belongs to this user, whatever owner a network file system reports.
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

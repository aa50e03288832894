import type { Stats } from 'node:fs'
import { lstat, mkdir, stat } from 'node:fs/promises'
import { hasCode } from '../error-code.ts'
import { insideOf } from './own-path.ts'

/** A folder for files of ours belongs to somebody else, who could read, replace or plant them. */
export class FolderOwnerError extends Error {
  override readonly name = 'FolderOwnerError'
}

/** Parts that a test replaces. */
export interface OwnerOptions {
  /** User id of this process; undefined: the system has none (Windows), and access control lists decide. */
  uid?: number | undefined
  /** Names of files by which a folder is known to be ours already, if one of them is: its owner may be another one, as with folders of containers. */
  known?: readonly string[]
}

/**
 * Makes a folder for this user alone. One that another user made in advance is refused, also behind a link that another user made; those of root are fine.
 * @param advice what the operator can do, as a sentence
 * @throws FolderOwnerError; Error of the file system
 */
export async function makeOwnFolder(
  folder: string,
  advice: string,
  { uid = process.getuid?.(), known = [] }: OwnerOptions = {},
): Promise<void> {
  // What this call makes is ours, whatever user the file system of another machine shows.
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

import { rename } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'

/** Pauses between attempts, in milliseconds: about 5 s in all. An antivirus or an indexer holds a new file for far less. */
const pauses = [5, 10, 20, 50, 100, 200, 400, 800, 1_600, 1_800]

/** Codes of Windows for a file that another program has open. */
const held: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY'])

/** Parts that a test replaces. */
export interface RenameOptions {
  platform?: NodeJS.Platform
  move?: (from: string, to: string) => Promise<void>
}

/**
 * Renames a file; what has the new name is replaced at once.
 * Windows refuses (EPERM, EACCES, EBUSY) while another program, such as an antivirus, has one of the two open: there it is tried again for about 5 s.
 * @throws errors of rename(2)
 */
export async function renameFile(
  from: string,
  to: string,
  { platform = process.platform, move = rename }: RenameOptions = {},
): Promise<void> {
  for (const pause of platform === 'win32' ? pauses : []) {
    try {
      return await move(from, to)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && held.has(error.code))) throw error
    }
    await setTimeout(pause)
  }
  await move(from, to)
}

import { renameSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { heldPauses, isHeldByProgram, onceFree } from '../../../shared/held-file.ts'

/** Longest pause of a synchronous rename, which blocks the event loop, in milliseconds. */
const maxPauseMs = 200

/** Parameters that a test replaces. */
export interface RenameOptions<Result> {
  platform?: NodeJS.Platform
  move?: (from: string, to: string) => Result
}

/**
 * Renames a file and atomically replaces any file with the new name.
 * Windows rejects the rename while another program, such as an antivirus, has one of the two files open. The rename is
 * then retried for about 5 s.
 * @throws errors of rename(2)
 */
export async function renameFile(
  from: string,
  to: string,
  { platform = process.platform, move = rename }: RenameOptions<Promise<void>> = {},
): Promise<void> {
  await onceFree(platform, () => move(from, to))
}

/** Renames a file synchronously, and retries for 0.4 s. @throws errors of rename(2) */
export function renameFileSync(
  from: string,
  to: string,
  { platform = process.platform, move = renameSync }: RenameOptions<void> = {},
): void {
  for (const pause of platform === 'win32' ? heldPauses.filter((one) => one <= maxPauseMs) : []) {
    try {
      return move(from, to)
    } catch (error) {
      if (!isHeldByProgram(error)) throw error
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause)
  }
  move(from, to)
}

import { sleep } from './sleep.ts'

/**
 * Delays between attempts, in milliseconds; about 5 s in total. An antivirus program or an indexer usually keeps a new
 * file open for a much shorter time.
 */
export const heldPauses: readonly number[] = [5, 10, 20, 50, 100, 200, 400, 800, 1_600, 1_800]

/** Error codes of Windows for a file that another program has open. */
const held: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY'])

/** Whether an error of Windows means that another program has the file open. */
export function isHeldByProgram(error: unknown): boolean {
  return error instanceof Error && 'code' in error && held.has(error.code)
}

/**
 * Repeats an operation for about 5 s if Windows rejects it (EPERM, EACCES, EBUSY) because another program, such as an
 * antivirus program, has a file open. On other systems, runs the operation once.
 * @throws the error of the last attempt
 */
export async function onceFree(platform: string, operation: () => Promise<void>): Promise<void> {
  for (const pause of platform === 'win32' ? heldPauses : []) {
    try {
      return await operation()
    } catch (error) {
      if (!isHeldByProgram(error)) throw error
    }
    await sleep(pause)
  }
  await operation()
}

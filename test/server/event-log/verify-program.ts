import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { built } from '../../support/built.ts'

const program = built('server/headless.js')

/** Runs the built program with --verify-log. @param flags beside the data folder @returns its output and exit code */
export async function verifiedByProgram(
  folder: string,
  flags: readonly string[] = [],
): Promise<{ code: number; said: string }> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [
      program,
      ...['--data-dir', folder, '--verify-log', ...flags],
    ])
    return { code: 0, said: stdout.trim() }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, said: (stdout + stderr).trim() }
  }
}

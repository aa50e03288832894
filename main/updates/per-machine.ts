import { execFile } from 'node:child_process'
import { win32 } from 'node:path'
import { promisify } from 'node:util'
import { installKey } from '../app-id.ts'

/** Runs a program of Windows. Rejects with errors of `execFile`. */
type RunProgram = (program: string, args: readonly string[]) => Promise<unknown>

const run: RunProgram = (program, args) => promisify(execFile)(program, args, { timeout: 10_000, windowsHide: true })

/**
 * Whether Windows asks an administrator before an update is installed. If the app was installed for all users, its
 * installer restarts itself with administrator rights; the installer decides by the same registry value. If the value
 * cannot be read, returns true, so that Windows does not open its dialog at night.
 */
export async function asksAdministrator(runProgram = run, env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const program = win32.join(env.SystemRoot ?? 'C:\\Windows', 'System32', 'reg.exe')
  try {
    await runProgram(program, ['query', `HKLM\\Software\\${installKey}`, '/v', 'InstallLocation', '/reg:64'])
    return true
  } catch (error) {
    // 1 is the exit code of `reg query` for a missing value.
    return !(error instanceof Error && 'code' in error && error.code === 1)
  }
}

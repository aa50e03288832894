import { execFile } from 'node:child_process'
import { bareEnvironment } from '../nodes/embedded/ffmpeg/ffmpeg-program.ts'

/**
 * Runs a program of the system.
 * @returns output of the program; undefined: the program is missing
 * @throws Error if the program fails without output
 */
export type SystemTool = (
  program: string,
  parameters: readonly string[],
  signal: AbortSignal,
) => Promise<string | undefined>

const maxOutputBytes = 256 * 1024

/**
 * Runs a program with a minimal environment and English output. A program that exits with an error code counts as
 * successful if it printed output.
 */
export const systemTool: SystemTool = async (program, parameters, signal) =>
  await new Promise((resolve, reject) => {
    const { DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR } = process.env
    const session = Object.fromEntries(
      Object.entries({ DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR }).filter(([, value]) => value !== undefined),
    )
    const env = { ...bareEnvironment(), ...session, LC_ALL: 'C' }
    execFile(program, parameters, { env, signal, maxBuffer: maxOutputBytes, windowsHide: true }, (error, stdout) => {
      if (error === null || (typeof error.code === 'number' && stdout !== '')) resolve(stdout)
      else if (error.code === 'ENOENT') resolve(undefined)
      else reject(new Error(`${program} failed`, { cause: error }))
    })
  })

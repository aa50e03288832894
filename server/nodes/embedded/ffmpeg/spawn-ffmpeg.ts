import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { bareEnvironment } from './ffmpeg-program.ts'

/**
 * Limit of the address space, in KiB, because malicious pictures may request any amount of memory. The libraries alone
 * use 0.7 GB of address space.
 */
const maxMemory = 3 * 1024 * 1024
/**
 * Limits memory and disables core dumps on POSIX systems. With setpriv, ffmpeg is killed when its parent thread ends,
 * even if ffmpeg is stopped. Without setpriv, ffmpeg ends at the end of its standard input.
 */
const bounded =
  `ulimit -v ${maxMemory} 2>/dev/null; ulimit -c 0; ` +
  `if command -v setpriv >/dev/null 2>&1; then exec setpriv --pdeathsig KILL -- "$0" "$@"; fi; exec "$0" "$@"`

/** Maximum length of stderr output that is kept, in characters. */
const maxComplaint = 600

export interface SpawnedFfmpeg {
  child: ChildProcessWithoutNullStreams
  /** Returns the last lines of stderr, which may contain addresses. */
  complaint: () => string
}

/**
 * Starts ffmpeg with a lower priority than live media, limited memory, and no secrets in its environment. Errors of its
 * pipes are ignored: it may end at any time, and then emits `close`.
 * @param path path of the program
 * @param options.descriptors number of pipes: 3, or more for further outputs
 * @param options.notLowered called if the priority cannot be lowered, because the process has ended or the system
 * refused
 */
export function spawnFfmpeg(
  path: string,
  parameters: readonly string[],
  { descriptors = 3, notLowered = () => {} }: { descriptors?: number; notLowered?: (error: unknown) => void } = {},
): SpawnedFfmpeg {
  const { command, given } = boundedCommand(path, parameters)
  const stdio = Array.from({ length: descriptors }, () => 'pipe' as const)
  const child = spawn(command, given, { stdio, env: bareEnvironment(), cwd: '/', windowsHide: true })
  let complaint = ''
  child.stdin.on('error', () => {})
  child.stderr.on('error', () => {})
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString('utf8')}`.slice(-maxComplaint)
  })
  if (child.pid !== undefined) {
    try {
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    } catch (error) {
      notLowered(error)
    }
  }
  return { child, complaint: () => complaint.trim() }
}

/** Returns the command that runs a program with limited memory, because it processes untrusted media. */
export function boundedCommand(path: string, parameters: readonly string[]): { command: string; given: string[] } {
  if (process.platform === 'win32') return { command: path, given: [...parameters] }
  return { command: '/bin/sh', given: ['-c', bounded, path, ...parameters] }
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { bareEnvironment } from './ffmpeg-program.ts'

/** Address space, in KiB: hostile pictures may ask for any size. The libraries alone take 0.7 GB of it. */
const maxMemory = 3 * 1024 * 1024
/**
 * On POSIX systems the memory is bounded, nothing is dumped, and where the system can it ends with the thread that started it, even stopped; its standard
 * input ends in any case.
 */
const bounded =
  `ulimit -v ${maxMemory} 2>/dev/null; ulimit -c 0; ` +
  `if command -v setpriv >/dev/null 2>&1; then exec setpriv --pdeathsig KILL -- "$0" "$@"; fi; exec "$0" "$@"`

/** Last words that are kept, in characters. */
const maxComplaint = 600

/** A running ffmpeg. */
export interface SpawnedFfmpeg {
  child: ChildProcessWithoutNullStreams
  /** Its last words so far; may hold addresses. */
  complaint: () => string
}

/**
 * Starts ffmpeg below the priority of live media, with bounded memory and nothing secret in its environment. Pipes that break are no error: it may end at any time, and `close` tells.
 * @param path of the program
 * @param options.descriptors pipes to it: 3, or more for further outputs
 * @param options.notLowered called when its priority cannot be lowered: it is over already, or the system does not allow it
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

/** Command that runs a program on media of strangers with bounded memory. */
export function boundedCommand(path: string, parameters: readonly string[]): { command: string; given: string[] } {
  if (process.platform === 'win32') return { command: path, given: [...parameters] }
  return { command: '/bin/sh', given: ['-c', bounded, path, ...parameters] }
}

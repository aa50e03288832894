import { type ChildProcess, spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { boundedCommand } from '../../nodes/embedded/ffmpeg/bounded-command.ts'
import { bareEnvironment, type FfmpegProgram } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'

/** Last words that are kept, in characters. */
const maxComplaint = 600

/** End of an ffmpeg. */
interface FfmpegEnd {
  /** It did what it was to do. */
  ok: boolean
  /** Its last words; may hold addresses, so they are for no log before `redacted`. */
  complaint: string
}

/** A running ffmpeg that reads its standard input. */
export interface FfmpegRun {
  stdin: Writable
  stdout: Readable
  /** Never rejects. */
  ended: Promise<FfmpegEnd>
  kill(): void
}

/** Starts ffmpeg below the priority of live media, with bounded memory and nothing secret in its environment. */
export function runFfmpeg({ path }: Pick<FfmpegProgram, 'path'>, parameters: readonly string[]): FfmpegRun {
  const { command, given } = boundedCommand(path, ['-hide_banner', '-nostats', '-loglevel', 'error', ...parameters])
  const child = spawn(command, given, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: bareEnvironment(),
    cwd: '/',
    windowsHide: true,
  })
  lowerPriority(child)
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString('utf8')}`.slice(-maxComplaint)
  })
  // It may end at any time; `ended` tells.
  child.stdin.on('error', () => {})
  const ended = new Promise<FfmpegEnd>((resolve) => {
    child.once('error', (error) => resolve({ ok: false, complaint: error.message }))
    child.once('close', (code) => resolve({ ok: code === 0, complaint: complaint.trim() }))
  })
  return { stdin: child.stdin, stdout: child.stdout, ended, kill: () => child.kill('SIGKILL') }
}

function lowerPriority({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It is over already, or the system does not allow it.
  }
}

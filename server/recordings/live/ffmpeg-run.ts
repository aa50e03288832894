import type { Readable, Writable } from 'node:stream'
import type { FfmpegProgram } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { spawnFfmpeg } from '../../nodes/embedded/ffmpeg/spawn-ffmpeg.ts'

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

/** Starts an ffmpeg that is fed while it runs. */
export function startFfmpeg({ path }: Pick<FfmpegProgram, 'path'>, parameters: readonly string[]): FfmpegRun {
  const { child, complaint } = spawnFfmpeg(path, ['-hide_banner', '-nostats', '-loglevel', 'error', ...parameters])
  const ended = new Promise<FfmpegEnd>((resolve) => {
    child.once('error', (error) => resolve({ ok: false, complaint: error.message }))
    child.once('close', (code) => resolve({ ok: code === 0, complaint: complaint() }))
  })
  return { stdin: child.stdin, stdout: child.stdout, ended, kill: () => child.kill('SIGKILL') }
}

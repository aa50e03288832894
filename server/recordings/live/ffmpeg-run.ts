import { Duplex, type Readable, type Writable } from 'node:stream'
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
  /** Inputs beyond stdin: `pipe:3` and following. */
  inputs: readonly Writable[]
  /** Never rejects. */
  ended: Promise<FfmpegEnd>
  kill(): void
}

/** Starts an ffmpeg that is fed while it runs. @param inputs number of inputs beyond stdin */
export function startFfmpeg(
  { path }: Pick<FfmpegProgram, 'path'>,
  parameters: readonly string[],
  inputs = 0,
): FfmpegRun {
  const given = ['-hide_banner', '-nostats', '-loglevel', 'error', ...parameters]
  const { child, complaint } = spawnFfmpeg(path, given, { descriptors: 3 + inputs })
  const further = child.stdio.slice(3).filter((each): each is Duplex => each instanceof Duplex)
  // It may end at any time, and `ended` tells.
  for (const each of further) each.on('error', () => {})
  const ended = new Promise<FfmpegEnd>((resolve) => {
    child.once('error', (error) => resolve({ ok: false, complaint: error.message }))
    child.once('close', (code) => resolve({ ok: code === 0, complaint: complaint() }))
  })
  const { stdin, stdout } = child
  return { stdin, stdout, inputs: further, ended, kill: () => child.kill('SIGKILL') }
}

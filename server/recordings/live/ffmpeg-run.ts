import { Duplex, type Readable, type Writable } from 'node:stream'
import { type FfmpegProgram, spawnFfmpeg } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'

/**
 * Returns ffmpeg arguments for encoding a live picture as H.264.
 * @param encoder name of ffmpeg's encoder, e.g. `libx264`
 */
export function liveEncoding(encoder: string): string[] {
  const fast = encoder === 'libx264' ? ['-preset', 'veryfast', '-tune', 'zerolatency'] : []
  return ['-c:v', encoder, '-pix_fmt', 'yuv420p', ...fast]
}

/** Limits the number of ffmpeg processes that encode pictures: each process uses a large part of a CPU core. */
export class EncoderPlaces {
  #free: number

  /** @param atOnce maximum number of processes */
  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Takes a slot. Returns a function that releases the slot; undefined: all slots are taken. */
  take(): (() => void) | undefined {
    if (this.#free === 0) return undefined
    this.#free -= 1
    let isTaken = true
    return () => {
      if (isTaken) this.#free += 1
      isTaken = false
    }
  }
}

/** Result of an ffmpeg process. */
interface FfmpegEnd {
  /** Whether ffmpeg exited with code 0. */
  ok: boolean
  /** Last lines of ffmpeg's stderr, which may contain addresses: apply `redacted` before logging. */
  complaint: string
}

/** A running ffmpeg that reads its standard input. */
export interface FfmpegRun {
  stdin: Writable
  stdout: Readable
  /** Inputs in addition to stdin: `pipe:3` and following. */
  inputs: readonly Writable[]
  /** Resolves when the process has exited. Never rejects. */
  ended: Promise<FfmpegEnd>
  kill(): void
}

/**
 * Starts an ffmpeg process that receives its input while it runs. @param inputs number of inputs in addition to stdin
 */
export function startFfmpeg(
  { path }: Pick<FfmpegProgram, 'path'>,
  parameters: readonly string[],
  inputs = 0,
): FfmpegRun {
  const given = ['-hide_banner', '-nostats', '-loglevel', 'error', ...parameters]
  const { child, complaint } = spawnFfmpeg(path, given, { descriptors: 3 + inputs })
  const further = child.stdio.slice(3).filter((each): each is Duplex => each instanceof Duplex)
  // ffmpeg may exit at any time, which `ended` reports.
  for (const each of further) each.on('error', () => {})
  const ended = new Promise<FfmpegEnd>((resolve) => {
    child.once('error', (error) => resolve({ ok: false, complaint: error.message }))
    child.once('close', (code) => resolve({ ok: code === 0, complaint: complaint() }))
  })
  const { stdin, stdout } = child
  return { stdin, stdout, inputs: further, ended, kill: () => child.kill('SIGKILL') }
}

/** Time without progress after which a program counts as stuck, in milliseconds. */
const stuckMs = 20_000

/** Writes to the input of a program as fast as it reads. @throws Error if it has ended or is stuck */
export async function writeToProgram(input: Writable, bytes: Uint8Array): Promise<void> {
  if (input.destroyed || input.writableEnded) throw new Error('the reader of the stream is gone')
  if (input.write(bytes)) return
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error): void => {
      clearTimeout(timer)
      input.off('drain', onDrain).off('close', onClose)
      if (error === undefined) resolve()
      else reject(error)
    }
    const onDrain = (): void => settle()
    const onClose = (): void => settle(new Error('the reader of the stream is gone'))
    const timer = setTimeout(() => settle(new Error('the reader of the stream is stuck')), stuckMs)
    input.once('drain', onDrain).once('close', onClose)
  })
}

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onAbort } from '../../../shared/abort.ts'
import type { OwnPath } from '../../../shared/files/own-path.ts'
import type { segmentContainers, SegmentStart } from '../../../shared/recordings/segment.ts'
import { type FfmpegProgram, spawnFfmpeg } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { SegmentFiles } from '../playback/segment-sources.ts'

type Container = (typeof segmentContainers)[number]

export interface Conversion {
  /** Size and encoder of the H.264 picture, with bars if the aspect ratio differs; undefined: the picture is copied. */
  picture?: { width: number; height: number; encoder: string } | undefined
  /** `aac`: the sound is encoded; `copy`: the sound is copied. */
  sound: 'aac' | 'copy'
}

/** Thrown if ffmpeg fails. The message contains the last lines of stderr. */
export class FfmpegError extends Error {
  override readonly name = 'FfmpegError'
}

/** Thrown if ffmpeg has no H.264 encoder. */
export class EncoderMissingError extends Error {
  override readonly name = 'EncoderMissingError'
}

/**
 * Converts a file to an MP4 that plays everywhere, at low priority.
 * @param path path of the ffmpeg program
 * @param progress receives the number of seconds written
 * @throws FfmpegError, AbortError
 */
export async function convert(
  path: string,
  { input, container, output }: { input: OwnPath; container: Container; output: OwnPath },
  { picture, sound }: Conversion,
  { signal, progress }: { signal?: AbortSignal | undefined; progress?: ((seconds: number) => void) | undefined },
): Promise<void> {
  const video = picture === undefined ? ['-c:v', 'copy'] : pictureArguments(picture)
  const audio = sound === 'copy' ? ['-c:a', 'copy'] : ['-c:a', 'aac', '-b:a', '96k', '-ar', '48000', '-ac', '2']
  await runFfmpeg(
    path,
    [
      ...['-hide_banner', '-loglevel', 'error', '-nostdin', '-y', ...fileInput(input, container)],
      ...['-map', '0:v:0?', '-map', '0:a:0?', ...video, ...audio],
      ...['-movflags', '+faststart', '-progress', 'pipe:1', '-f', 'mp4', output],
    ],
    { signal, line: (line) => progress?.(Number(/^out_time_us=(\d+)/.exec(line)?.[1] ?? 0) / 1e6) },
  )
}

function pictureArguments({ width, height, encoder }: NonNullable<Conversion['picture']>): string[] {
  // Encoders accept only even sizes.
  const [w, h] = [width + (width % 2), height + (height % 2)]
  const fit = `scale=w=${w}:h=${h}:force_original_aspect_ratio=decrease:force_divisible_by=2,pad=${w}:${h}:-1:-1,setsar=1`
  const quality = encoder === 'libx264' ? ['-preset', 'veryfast', '-crf', '23'] : ['-b:v', '4000k']
  return ['-vf', `${fit},format=yuv420p`, '-c:v', encoder, ...quality, '-bf', '0', '-g', '100', '-threads', '2']
}

/**
 * Returns the ffmpeg arguments that open one local file. The demuxer is named and only files are allowed: otherwise a
 * crafted file could act as a playlist of other files or addresses.
 */
export function fileInput(path: OwnPath, container: Container): string[] {
  const demuxer = container === 'webm' ? 'matroska' : 'mov'
  return ['-f', demuxer, '-protocol_whitelist', 'file', '-i', path]
}

/**
 * Runs ffmpeg over files until it exits.
 * @param run `line` receives the lines of stdout. Without `line`, stdout is returned, and ffmpeg is killed above
 * `maxBytes`
 * @throws FfmpegError, AbortError
 */
export async function runFfmpeg(
  path: string,
  parameters: readonly string[],
  run: { signal?: AbortSignal | undefined; line?: (line: string) => void; maxBytes?: number },
): Promise<Buffer> {
  run.signal?.throwIfAborted()
  const { child, complaint } = spawnFfmpeg(path, parameters)
  child.stdin.end()
  const abort = (): void => void child.kill('SIGKILL')
  if (run.signal !== undefined) onAbort(run.signal, abort)
  const chunks: Buffer[] = []
  let bytes = 0
  if (run.line !== undefined) createInterface(child.stdout).on('line', run.line)
  else {
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > (run.maxBytes ?? 0)) abort()
      else chunks.push(chunk)
    })
  }
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    run.signal?.throwIfAborted()
    if (code !== 0) throw new FfmpegError(`ffmpeg failed: ${complaint() || `exit code ${code ?? 'unknown'}`}`)
    return Buffer.concat(chunks)
  } finally {
    run.signal?.removeEventListener('abort', abort)
  }
}

/** Maximum size of a picture, in bytes. */
const maxBytes = 16 * 1024 * 1024
/** Timeout of one picture, in milliseconds. */
const deadlineMs = 20_000
/** Maximum number of pictures made at the same time. */
const atOnce = 2

/** Makes JPEGs of recordings with ffmpeg, a few at a time. */
export class SegmentSnapshots {
  readonly #files: Pick<SegmentFiles, 'fileOf'>
  #running = 0

  constructor(files: Pick<SegmentFiles, 'fileOf'>) {
    this.#files = files
  }

  /**
   * Makes a JPEG in full size from one moment of a segment.
   * @param at seconds of media time
   * @returns the JPEG; undefined: too many pictures are being made
   * @throws Error with the last lines of ffmpeg; AbortError
   */
  async make(
    program: FfmpegProgram,
    segment: SegmentStart,
    at: number,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    if (this.#running >= atOnce) return undefined
    this.#running += 1
    try {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])
      const { path } = await this.#files.fileOf(segment, deadline)
      const pictureOf = (file: OwnPath): Promise<Buffer> =>
        runFfmpeg(program.path, snapshotArguments(file, segment.container, at), { signal: deadline, maxBytes })
      return await pictureOf(path).catch(async (error: unknown) => {
        // An open segment may have been renamed to its final name before ffmpeg opened it.
        const { path: now } = await this.#files.fileOf(segment, deadline)
        if (now === path) throw error
        return await pictureOf(now)
      })
    } finally {
      this.#running -= 1
    }
  }
}

function snapshotArguments(path: OwnPath, container: SegmentStart['container'], at: number): string[] {
  const input = ['-ss', at.toFixed(3), ...fileInput(path, container)]
  const output = ['-map', '0:v:0', '-frames:v', '1', '-q:v', '2', '-c:v', 'mjpeg', '-f', 'image2pipe', 'pipe:1']
  return ['-hide_banner', '-loglevel', 'error', '-nostdin', ...input, ...output]
}

import type { OwnPath } from '../../../shared/files/own-path.ts'
import type { SegmentStart } from '../../../shared/recordings/segment.ts'
import type { FfmpegProgram } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { SegmentFiles } from '../playback/segment-sources.ts'
import { fileInput, runFfmpeg } from './ffmpeg-convert.ts'

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
        runFfmpeg(program.path, pictureArguments(file, segment.container, at), { signal: deadline, maxBytes })
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

function pictureArguments(path: OwnPath, container: SegmentStart['container'], at: number): string[] {
  const input = ['-ss', at.toFixed(3), ...fileInput(path, container)]
  const output = ['-map', '0:v:0', '-frames:v', '1', '-q:v', '2', '-c:v', 'mjpeg', '-f', 'image2pipe', 'pipe:1']
  return ['-hide_banner', '-loglevel', 'error', '-nostdin', ...input, ...output]
}

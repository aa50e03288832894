import { stat } from 'node:fs/promises'
import { type OwnPath, withSuffix } from '../../../shared/files/own-path.ts'
import { openInside, removeInside, reserveInside } from '../../../shared/files/real-path.ts'
import type { FfmpegProgram } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { FragmentTables } from '../playback/fragment-table.ts'
import type { SegmentFiles } from '../playback/segment-sources.ts'
import type { RecordingIndex } from '../recording-index.ts'
import {
  type ExportedFile,
  type ExportSpan,
  piecesOfSpan,
  runsOf,
  type SourcePiece,
  type SourceRun,
} from './export-span.ts'
import { FilesLostError, NothingRecordedError } from './export-job.ts'
import { convert, EncoderMissingError } from './ffmpeg-convert.ts'
import { renameFile } from '../../store/system/rename-file.ts'
import type { ExportFormat } from '../../../shared/domain/recording-exports.ts'

export interface SpanOptions {
  format: ExportFormat
  /** Whether gaps keep their real length in the file. During a gap, the last picture stays visible. */
  keepGaps: boolean
  signal?: AbortSignal | undefined
  /** Receives the number of segments whose files are missing or damaged. */
  lost?: ((segments: number) => void) | undefined
  /** Receives the completed part, 0 to 1. */
  progress?: ((done: number) => void) | undefined
}

export interface WrittenExport extends ExportedFile {
  path: OwnPath
  /** Start time of the content, in milliseconds since the epoch. */
  at: number
  /** Whether the file is not in the requested format, because ffmpeg is missing. */
  unconverted: boolean
}

export interface SpanExportDependencies {
  files: SegmentFiles
  index: RecordingIndex
  tables: FragmentTables
  /** ffmpeg of this machine; undefined if it is missing. */
  ffmpeg: () => Promise<FfmpegProgram | undefined>
}

/** Writes spans of one stream as files. */
export class SpanExport {
  readonly #dependencies: SpanExportDependencies

  constructor(dependencies: SpanExportDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Writes one file: MP4 with its index at the front for H.264, H.265 and sound alone; WebM for VP8. The media is
   * transcoded only if its format changes in the span. The file starts at the key frame before `from`.
   * @param path path of the new file; removed if the export fails
   * @throws Error if nothing of the stream was recorded in this span, or the disk fails; AbortError
   */
  async writeFile(request: ExportSpan, path: OwnPath, signal?: AbortSignal): Promise<ExportedFile> {
    const runs = runsOf(await this.#pieces(request))
    const [run, ...others] = runs
    if (run === undefined) throw new NothingRecordedError('nothing of this stream was recorded in this span')
    if (others.length > 0) {
      const [file] = await this.writeFiles(request, (_number, container) => withSuffix(path, `.part.${container}`), {
        ...{ format: 'mp4', keepGaps: false, signal },
      })
      if (file === undefined || file.unconverted)
        throw new Error('the format changes in this span: it becomes one file only where ffmpeg is')
      await renameFile(file.path, path)
      return file
    }
    return await this.#remux(run, path, { format: 'original', keepGaps: false, signal })
  }

  /**
   * Writes one file, or several if the format changes and ffmpeg is missing. If an error occurs, removes all written
   * files.
   * @param pathOf returns the path of a file by its number, from 0
   * @throws NothingRecordedError, FilesLostError, AbortError, errors of the disk
   */
  async writeFiles(
    request: ExportSpan,
    pathOf: (number: number, container: 'mp4' | 'webm') => OwnPath,
    options: SpanOptions,
  ): Promise<WrittenExport[]> {
    let lost = 0
    const pieces = await this.#pieces(request, (segments) => (lost += segments))
    if (lost > 0) options.lost?.(lost)
    const runs = runsOf(pieces)
    if (runs.length === 0 && lost > 0) throw new FilesLostError('the files of this span are missing or damaged')
    if (runs.length === 0) throw new NothingRecordedError('nothing of this stream was recorded in this span')
    const wanted = options.format !== 'original' && !isPlainMp4(runs, options.format)
    const program = wanted ? await this.#dependencies.ffmpeg() : undefined
    const written: OwnPath[] = []
    try {
      if (program !== undefined) return [await this.#converted(runs, pathOf(0, 'mp4'), program, options, written)]
      const files: WrittenExport[] = []
      for (const [number, run] of runs.entries()) {
        const path = pathOf(number, containerOf(run))
        written.push(path)
        const file = await this.#remux(run, path, { ...options, progress: share(options, number, runs.length) })
        files.push({ ...file, path, at: run[0]?.at ?? 0, unconverted: wanted })
      }
      return files
    } catch (error) {
      await Promise.all(written.map((path) => this.#remove(path)))
      throw error
    }
  }

  async #remove(path: OwnPath): Promise<void> {
    await removeInside(this.#dependencies.files.folder, path)
  }

  async #pieces(request: ExportSpan, lost?: (segments: number) => void): Promise<SourcePiece[]> {
    return await piecesOfSpan(this.#dependencies, request, lost)
  }

  async #remux(run: SourceRun, path: OwnPath, { keepGaps, signal, progress }: SpanOptions): Promise<ExportedFile> {
    const container = containerOf(run)
    const whole = secondsOf(run)
    const { writeRun } = await import('./write-run.ts')
    try {
      await reserveInside(this.#dependencies.files.folder, path)
      const seconds = await writeRun(run, path, {
        ...{ container, keepGaps, signal },
        progress: (done) => progress?.(Math.min(1, done / whole)),
      })
      const { size } = await stat(path)
      return { container, bytes: size, durationMs: Math.round(seconds * 1_000) }
    } catch (error) {
      await this.#remove(path)
      throw error
    }
  }

  /** Converts each run to the same format, then joins the results. */
  async #converted(
    runs: readonly SourceRun[],
    path: OwnPath,
    program: FfmpegProgram,
    options: SpanOptions,
    written: OwnPath[],
  ): Promise<WrittenExport> {
    const all = runs.flat()
    const size = {
      width: Math.max(...all.map(({ width }) => width)),
      height: Math.max(...all.map(({ height }) => height)),
    }
    const encodes = runs.length > 1 || !all.every((piece) => isCopied(piece, options.format))
    const hasPicture = all.some(({ videoFormat }) => videoFormat !== '')
    if (encodes && hasPicture && program.pictures === undefined)
      throw new EncoderMissingError('this ffmpeg cannot encode H.264: install one with libx264')
    const picture = encodes && hasPicture ? { ...size, encoder: program.pictures ?? '' } : undefined
    const parts: SourcePiece[] = []
    const outputs: OwnPath[] = []
    for (const [number, run] of runs.entries()) {
      const source = withSuffix(path, `.${number}.source`)
      const output = runs.length === 1 ? path : withSuffix(path, `.${number}.mp4`)
      written.push(source, output)
      await this.#remux(run, source, { ...options, progress: undefined })
      const whole = secondsOf(run)
      const report = share(options, number, runs.length)
      const sound = run.every(hasPlainSound) && runs.length === 1 ? 'copy' : 'aac'
      await reserveInside(this.#dependencies.files.folder, output)
      await convert(
        program.path,
        { input: source, container: containerOf(run), output },
        { picture, sound },
        {
          ...{ signal: options.signal },
          progress: (seconds) => report?.(Math.min(1, seconds / whole)),
        },
      )
      await this.#remove(source)
      outputs.push(output)
      parts.push(await this.#joinable(output, run))
    }
    const at = all[0]?.at ?? 0
    if (runs.length === 1) {
      const { size: bytes } = await stat(path)
      return { path, at, container: 'mp4', bytes, durationMs: Math.round(secondsOf(all) * 1_000), unconverted: false }
    }
    written.push(path)
    const file = await this.#remux(parts, path, { ...options, progress: undefined })
    await Promise.all(outputs.map((output) => this.#remove(output)))
    return { ...file, path, at, unconverted: false }
  }

  /** Returns a converted run as a piece of the joined file. */
  async #joinable(path: OwnPath, run: SourceRun): Promise<SourcePiece> {
    const { size } = await stat(path)
    const sum = (count: (piece: SourcePiece) => number): number => run.reduce((total, piece) => total + count(piece), 0)
    return {
      ...{
        open: () => openInside(this.#dependencies.files.folder, path),
        bytes: size,
        from: 0,
        to: secondsOf(run),
        shownTo: secondsOf(run),
      },
      at: run[0]?.at ?? 0,
      // Encoders may add pictures, and AAC has a different packet duration than Opus.
      pictures: 2 * sum(({ pictures }) => pictures) + 100,
      sounds: 2 * sum(({ sounds }) => sounds) + 100,
      videoFormat: run.some(({ videoFormat }) => videoFormat !== '') ? 'h264' : '',
      audioFormat: run.some(({ audioFormat }) => audioFormat !== '') ? 'aac' : '',
      ...{ width: 0, height: 0 },
    }
  }
}

function containerOf(run: SourceRun): 'mp4' | 'webm' {
  return run.some(({ videoFormat }) => videoFormat.startsWith('vp')) ? 'webm' : 'mp4'
}

/** Whether a picture is copied into the file without encoding: not every player decodes H.265. */
function isCopied({ videoFormat }: SourcePiece, format: SpanOptions['format']): boolean {
  if (videoFormat === '' || videoFormat.startsWith('avc1')) return true
  return format !== 'compatible' && !videoFormat.startsWith('vp')
}

/** Whether the sound is AAC that every player decodes: LC or HE. Many players lack Opus and FLAC in MP4. */
function hasPlainSound({ audioFormat }: SourcePiece): boolean {
  return audioFormat === '' || ['mp4a.40.2', 'mp4a.40.5', 'mp4a.40.29'].includes(audioFormat)
}

/** Whether the pieces can be written as the requested MP4 without ffmpeg. */
function isPlainMp4(runs: readonly SourceRun[], format: SpanOptions['format']): boolean {
  return runs.length === 1 && runs.flat().every((piece) => isCopied(piece, format) && hasPlainSound(piece))
}

function secondsOf(run: SourceRun): number {
  return run.reduce((sum, { from, to }) => sum + to - from, 0)
}

function share({ progress }: SpanOptions, number: number, of: number): SpanOptions['progress'] {
  return progress && ((done) => progress((number + done) / of))
}

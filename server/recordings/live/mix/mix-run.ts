import { withSuffix } from '../../../../shared/files/own-path.ts'
import { removeInside } from '../../../../shared/files/real-path.ts'
import { recordedFolder, recordedPath } from '../../../../shared/files/recorded-path.ts'
import { partSuffix } from '../../../../shared/recordings/segment-path.ts'
import type { SegmentStart } from '../../../../shared/recordings/segment.ts'
import { pause } from '../../../../shared/sleep.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { FfmpegProgram } from '../../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { renameFile } from '../../../store/system/rename-file.ts'
import { type LiveSegments, windowMs } from '../live-streams.ts'
import { fragmentEnd, type LiveFragment } from '../live-window.ts'
import { MixEncoder, mixFile } from './mix-encoder.ts'
import { sampleRate } from './sample-line.ts'
import type { Voices } from './voices.ts'

export interface MixRunDependencies {
  program: Pick<FfmpegProgram, 'path'>
  /** Recordings folder. */
  folder: string
  /** Folder of the files of this mix, relative to the recordings folder. */
  below: string
  name: string
  /** See `picture` of MixEncoderDependencies. */
  picture: readonly string[] | undefined
  /** Codecs and size of the stream that is shown. */
  facts: SegmentStart
  /** Start of the run, in milliseconds since the epoch. */
  startedAt: number
  voices: Voices
  segments: MixSegments
  clock: () => number
  logger: { warn(fields: object, message: string): void }
}

/** Interval between two checks of the voices, in milliseconds. */
const lookMs = 100

/** One encoder of a mix, from its start to its end. Receives picture and sound as they arrive. */
export class MixRun {
  readonly #dependencies: MixRunDependencies
  readonly #encoder: MixEncoder
  readonly #sound: Promise<void>
  readonly #stopped = new AbortController()
  /** Reason why sound is no longer encoded; empty: sound is encoded. */
  #failure = ''
  /** Number of the sample up to which the picture was passed on. */
  #pictureEnd = 0

  private constructor(dependencies: MixRunDependencies, encoder: MixEncoder) {
    this.#dependencies = dependencies
    this.#encoder = encoder
    this.#begin(0, dependencies.startedAt)
    this.#sound = this.#giveSound().catch((error: unknown) => {
      this.#failure = String(error)
      this.#stopped.abort()
    })
  }

  /** @throws errors of the file system */
  static async start(dependencies: MixRunDependencies): Promise<MixRun> {
    const { program, folder, below, name, picture, startedAt } = dependencies
    const encoder = await MixEncoder.start({
      ...{ program, name, picture },
      ...{ recordings: folder, folder: recordedFolder(folder, `${below}/${mixFile(name, 0)}`) },
      completed: (number, seconds) => mustNotFail(run.#completed(number, startedAt + seconds * 1_000)),
    })
    const run = new MixRun(dependencies, encoder)
    return run
  }

  /** Aborts when the run cannot continue. */
  get over(): AbortSignal {
    return AbortSignal.any([this.#encoder.over, this.#stopped.signal])
  }

  /** Waits until ffmpeg has ended, and returns the last lines of its stderr, or the reason why the sound stopped. */
  async complaint(): Promise<string> {
    return (await this.#encoder.complaint()) || this.#failure
  }

  /** Passes a picture fragment to the encoder. @throws the errors of MixEncoder.addPicture */
  async addPicture(bytes: Uint8Array, fragment: LiveFragment): Promise<void> {
    this.#pictureEnd = sampleAt(fragmentEnd(fragment))
    await this.#encoder.addPicture(bytes, fragment.segment / 1_000)
  }

  /** Completes the last file. Never rejects. */
  async end(): Promise<void> {
    this.#stopped.abort()
    await this.#encoder.end()
    await this.#sound
  }

  /** Sends the voices to the encoder up to the time at which all voices have arrived. */
  async #giveSound(): Promise<void> {
    const { picture, startedAt, voices, clock } = this.#dependencies
    const { over } = this
    let given = sampleAt(startedAt)
    while (!over.aborted) {
      voices.follow()
      const ready = voices.readyTo(picture === undefined ? sampleAt(clock()) : this.#pictureEnd)
      while (given < ready && !over.aborted) {
        const to = Math.min(ready, given + sampleRate)
        await this.#encoder.addSound(voices.sum(given, to))
        given = to
      }
      await pause(lookMs, { signal: over })
    }
  }

  #begin(number: number, startedAt: number): void {
    const { below, name, picture, facts, segments } = this.#dependencies
    segments.begin({
      ...facts,
      ...{ file: `${below}/${mixFile(name, number)}`, container: 'mp4', startedAt, senderStartedAt: null },
      ...{ videoCodec: picture === undefined ? '' : facts.videoCodec, audioCodec: 'mp4a.40.2' },
    })
  }

  /** Handles the completion of a file, and starts the next file. Never rejects. */
  async #completed(number: number, endedAt: number): Promise<void> {
    const { folder, below, name, segments, clock, logger } = this.#dependencies
    const file = `${below}/${mixFile(name, number)}`
    try {
      const path = recordedPath(folder, file)
      await renameFile(withSuffix(path, partSuffix), path)
    } catch (error) {
      // The mix continues: readers skip a segment whose file is missing.
      logger.warn({ err: error, file }, 'live mix: a finished file could not be renamed')
    }
    this.#begin(number + 1, endedAt)
    for (const { file } of segments.forget(clock() - windowMs)) {
      try {
        await removeInside(folder, recordedPath(folder, file))
      } catch (error) {
        // The end of the mix removes the whole folder.
        logger.warn({ err: error, file }, 'live mix: an old file could not be removed')
      }
    }
  }
}

function sampleAt(milliseconds: number): number {
  return Math.round((milliseconds / 1_000) * sampleRate)
}

/** Segments of a mix, sorted by time. The last segment is being written. */
export class MixSegments implements LiveSegments {
  readonly #list: (SegmentStart & { endedAt: number })[] = []

  /** Starts a segment immediately after the previous one. */
  begin(segment: SegmentStart): void {
    this.end(segment.startedAt)
    this.#list.push({ ...segment, endedAt: Infinity })
  }

  /** Completes the open segment. @param at milliseconds since the epoch */
  end(at: number): void {
    const last = this.#list.at(-1)
    if (last !== undefined) last.endedAt = Math.min(last.endedAt, at)
  }

  /** Removes and returns the segments that ended before this time. */
  forget(before: number): SegmentStart[] {
    const kept = this.#list.findIndex(({ endedAt }) => endedAt >= before)
    return this.#list.splice(0, kept < 0 ? this.#list.length : kept)
  }

  segments({ from = 0, to = Infinity }: { from?: number; to?: number }): readonly SegmentStart[] {
    return this.#list.filter(({ startedAt, endedAt }) => startedAt <= to && endedAt >= from)
  }

  /** Open segments are part of `segments`. */
  open(): readonly SegmentStart[] {
    return []
  }
}

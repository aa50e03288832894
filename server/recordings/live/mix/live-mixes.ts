import { onAbort } from '../../../../shared/abort.ts'
import { insideOf } from '../../../../shared/files/own-path.ts'
import { removeInside } from '../../../../shared/files/real-path.ts'
import type { SegmentStart } from '../../../../shared/recordings/segment.ts'
import { refusal } from '../../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../../shared/result-codes.ts'
import { pause } from '../../../../shared/sleep.ts'
import type { FfmpegProgram, LocalFfmpeg } from '../../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { StoredLive } from '../../../store/recording-records.ts'
import type { RecordingRequests } from '../../recording-control.ts'
import type { EncoderPlaces } from '../ffmpeg-run.ts'
import { liveFragments, LiveStream, windowMs } from '../live-streams.ts'
import { fragmentEnd, type LiveFragment } from '../live-window.ts'
import { FormatChangedError } from '../push-feed.ts'
import { pictureArguments } from './mix-encoder.ts'
import { MixRun, MixSegments } from './mix-run.ts'
import { Voices, type VoicesDependencies } from './voices.ts'

export interface LiveMixesOptions extends Omit<LiveMixDependencies, 'id' | 'roomId' | 'target' | 'picture' | 'ready'> {
  requests: RecordingRequests
}

/** Mixes of live streams with the sound of their room, by live stream id. */
export class LiveMixes {
  readonly #options: LiveMixesOptions
  readonly #mixes = new Map<string, LiveMix>()
  #cleared: Promise<void> = Promise.resolve()

  constructor(options: LiveMixesOptions) {
    this.#options = options
  }

  /** Deletes files of an earlier run. */
  start(): void {
    this.#cleared = removeMixes(this.#options.folder)
  }

  /** Checks that mixing is possible. @throws ApiError recordingUnavailable (no ffmpeg) */
  async check(): Promise<void> {
    const { ffmpeg } = this.#options
    await ffmpeg.look()
    if (ffmpeg.program === undefined)
      throw new ApiError('recordingUnavailable', { refusal: refusal('liveMixNeedsFfmpeg') })
  }

  /** Starts a mix. The whole room is recorded while it runs. */
  begin({ id, room_id: roomId, picture }: StoredLive, target: LiveStream): LiveStream {
    this.#options.requests.put({ id: requestId(id), roomId, windowMs })
    const mix = new LiveMix({ ...this.#options, id, roomId, target, picture: picture !== 'none', ready: this.#cleared })
    this.#mixes.set(id, mix)
    return mix.stream
  }

  /** Returns the mix of a live stream; undefined if there is none. */
  of(id: string): LiveStream | undefined {
    return this.#mixes.get(id)?.stream
  }

  /** Ends a mix and deletes its files. Never rejects. */
  async end(id: string): Promise<void> {
    const mix = this.#mixes.get(id)
    if (mix === undefined) return
    this.#mixes.delete(id)
    this.#options.requests.remove(requestId(id))
    const closed = mix.close()
    // The next mix of this live stream uses the same folder.
    this.#cleared = Promise.allSettled([this.#cleared, closed]).then(() => undefined)
    await closed
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#mixes.keys(), (id) => this.end(id)))
  }
}

function requestId(id: string): string {
  return `live:mix:${id}`
}

interface LiveMixDependencies extends Omit<VoicesDependencies, 'program'> {
  id: string
  /** Stream of the user whose picture is shown. */
  target: LiveStream
  /** Whether the mix has a picture; false: only sound. */
  picture: boolean
  /** Resolves when the mix may write files. */
  ready: Promise<void>
  ffmpeg: LocalFfmpeg
  encoders: EncoderPlaces
}

/** Folder below the recordings folder for the files of mixes. Folder names of ids never contain `~`. */
const mixesFolder = '~mixes'
/** Delay before another attempt, in milliseconds. */
const againMs = 2_000
/** Time without a picture after which a new run starts, in milliseconds: a file cannot contain gaps. */
const awayMs = 5_000
/** Maximum wait for the first picture or sound of the user, in milliseconds. */
const firstMs = 5_000

/** Live stream of one user's picture with the mixed sound of all users in the room. */
class LiveMix {
  /** The mixed stream that players read. */
  readonly stream: LiveStream
  readonly #dependencies: LiveMixDependencies
  readonly #below: string
  readonly #segments = new MixSegments()
  readonly #ended = new AbortController()
  readonly #done: Promise<void>
  /** Last picture fragment passed to the mix. */
  #taken: LiveFragment | undefined
  #runs = 0

  constructor(dependencies: LiveMixDependencies) {
    this.#dependencies = dependencies
    this.#below = `${mixesFolder}/${dependencies.id}`
    this.stream = new LiveStream(dependencies.target.stream, { ...dependencies, index: this.#segments })
    this.#done = this.#mix()
  }

  /** Ends the mix and deletes its files. Never rejects. */
  async close(): Promise<void> {
    this.#ended.abort()
    await this.#done
    const { folder, id } = this.#dependencies
    await removeMixes(folder, id)
  }

  /** Mixes until the mix is closed. A picture of another format starts a new run. Never rejects. */
  async #mix(): Promise<void> {
    const { signal } = this.#ended
    await this.#dependencies.ready
    while (!signal.aborted) {
      try {
        await this.#attempt(signal)
      } catch (error) {
        if (error instanceof FormatChangedError) continue
        this.#dependencies.logger.warn({ err: error, live: this.#dependencies.id }, 'a live mix begins again')
      }
      await pause(againMs, { signal })
    }
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    const { ffmpeg, encoders, target, picture } = this.#dependencies
    await ffmpeg.look()
    const { program } = ffmpeg
    if (program === undefined) throw new Error('ffmpeg is missing')
    await target.wait(0, firstMs, signal)
    const { segment } = target
    if (segment === undefined) return
    const isCopied = !picture || pictureArguments(segment.videoCodec, undefined) !== undefined
    const place = isCopied ? () => {} : encoders.take()
    if (place === undefined) throw new Error('as many pictures are encoded as are allowed')
    const codec = picture ? pictureArguments(segment.videoCodec, program.pictures) : undefined
    const voices = new Voices({ ...this.#dependencies, program })
    try {
      if (picture && codec === undefined) throw new Error('this ffmpeg cannot make H.264')
      if (codec === undefined) await this.#soundAlone(program, segment, voices, signal)
      else await this.#withPicture(program, codec, voices, signal)
    } finally {
      place()
      await voices.close()
    }
  }

  async #withPicture(
    program: FfmpegProgram,
    codec: readonly string[],
    voices: Voices,
    signal: AbortSignal,
  ): Promise<void> {
    const { target, folder } = this.#dependencies
    const over = new AbortController()
    let run: MixRun | undefined
    try {
      const either = AbortSignal.any([signal, over.signal])
      for await (const { fragment, bytes } of liveFragments(target, folder, either, this.#taken)) {
        const facts = target.segmentAt(fragment.segment)
        if (facts === undefined) continue
        const begin = fragment.segment + fragment.start * 1_000
        if (run === undefined) {
          run = await this.#start(program, codec, facts, begin, voices)
          onAbort(run.over, () => over.abort())
        } else if (this.#taken !== undefined && begin - fragmentEnd(this.#taken) > awayMs) {
          throw new FormatChangedError('the picture was away')
        }
        await run.addPicture(bytes, fragment)
        this.#taken = fragment
      }
    } finally {
      await run?.end()
    }
    await this.#tell(run, signal)
  }

  async #soundAlone(program: FfmpegProgram, facts: SegmentStart, voices: Voices, signal: AbortSignal): Promise<void> {
    const run = await this.#start(program, undefined, facts, this.#dependencies.clock(), voices)
    await new Promise<void>((resolve) => onAbort(AbortSignal.any([signal, run.over]), resolve))
    await run.end()
    await this.#tell(run, signal)
  }

  /** Throws an error with ffmpeg's last lines if ffmpeg ended on its own. */
  async #tell(run: MixRun | undefined, signal: AbortSignal): Promise<void> {
    if (run !== undefined && !signal.aborted) throw new Error((await run.complaint()) || 'ffmpeg ended')
  }

  async #start(
    program: FfmpegProgram,
    picture: readonly string[] | undefined,
    facts: SegmentStart,
    startedAt: number,
    voices: Voices,
  ): Promise<MixRun> {
    const { folder, clock, logger } = this.#dependencies
    const name = `mix-${this.#runs}`
    this.#runs += 1
    voices.follow()
    return await MixRun.start({
      ...{ program, folder, below: this.#below, name, picture, facts, startedAt },
      ...{ voices, segments: this.#segments, clock, logger },
    })
  }
}

/**
 * Deletes the files of one mix, or of all mixes. Never rejects.
 * @param folder recordings folder; empty: the folder is unusable
 */
async function removeMixes(folder: string, ...ids: [] | [string]): Promise<void> {
  try {
    await removeInside(folder, insideOf(folder, mixesFolder, ...ids), { recursive: true })
  } catch {
    // Remaining files are removed at the next start.
  }
}

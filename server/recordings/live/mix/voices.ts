import type { RecordedStream } from '../../../../shared/recordings/segment.ts'
import { pause } from '../../../../shared/sleep.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { FfmpegProgram } from '../../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { RecordingIndex } from '../../recording-index.ts'
import { startFfmpeg } from '../ffmpeg-run.ts'
import { liveFragments, LiveStream, type LiveStreamDependencies } from '../live-streams.ts'
import type { LiveFragment } from '../live-window.ts'
import { FormatChangedError, PushFeed } from '../push-feed.ts'
import { SampleLine, sampleRate, soundChannels, WholeSamples } from './sample-line.ts'

export interface VoicesDependencies extends Omit<LiveStreamDependencies, 'index'> {
  roomId: string
  index: Pick<RecordingIndex, 'segments' | 'open'>
  /** Recordings folder. */
  folder: string
  program: Pick<FfmpegProgram, 'path'>
  logger: { warn(fields: object, message: string): void }
}

/**
 * Maximum number of voices per mix. Listeners cannot distinguish more people in one sound, and each voice needs a
 * decoder.
 */
const maxVoices = 16
/** Maximum time that the mix waits for a delayed voice, in milliseconds. */
const maxLagMs = 6_000

/**
 * Time without an open file after which a user counts as having left, in milliseconds. Consecutive segments have short
 * pauses.
 */
const leftMs = 10_000

/** Mixed sound of all users in a room. */
export class Voices {
  readonly #dependencies: VoicesDependencies
  readonly #voices = new Map<string, { voice: MixVoice; seenAt: number }>()

  constructor(dependencies: VoicesDependencies) {
    this.#dependencies = dependencies
  }

  /** Adds the voices of users who joined, and removes the voices of users who left. */
  follow(): void {
    const { roomId, index, clock } = this.#dependencies
    const present = index.open({ roomId, quality: 'main' }).filter(({ audioCodec }) => audioCodec !== '')
    const now = clock()
    for (const { userId, source, quality } of present) {
      const stream: RecordedStream = { roomId, userId, source, quality }
      const key = keyOf(stream)
      const known = this.#voices.get(key)
      if (known !== undefined) known.seenAt = now
      else if (this.#voices.size < maxVoices) {
        const voice = new MixVoice({ ...this.#dependencies, stream: new LiveStream(stream, this.#dependencies) })
        this.#voices.set(key, { voice, seenAt: now })
      }
    }
    for (const [key, { voice, seenAt }] of this.#voices) {
      if (now - seenAt <= leftMs) continue
      this.#voices.delete(key)
      mustNotFail(voice.close())
    }
  }

  /**
   * Returns the number of the sample up to which every voice has arrived. A voice delays the result by at most
   * `maxLagMs`.
   * @param latest upper bound of the result
   */
  readyTo(latest: number): number {
    const ends = [...this.#voices.values()].map(({ voice }) => voice.end).filter((end) => end !== -Infinity)
    const waited = Math.round(((this.#dependencies.clock() - maxLagMs) / 1_000) * sampleRate)
    return Math.min(latest, Math.max(waited, Math.min(latest, ...ends)))
  }

  /** Sums the voices of a span. @param from, to numbers of samples */
  sum(from: number, to: number): Float32Array {
    const sum = new Float32Array((to - from) * soundChannels)
    for (const { voice } of this.#voices.values()) voice.addTo(sum, from)
    return sum
  }

  async close(): Promise<void> {
    const voices = [...this.#voices.values()]
    this.#voices.clear()
    await Promise.all(voices.map(({ voice }) => voice.close()))
  }
}

function keyOf({ userId, source }: Pick<RecordedStream, 'userId' | 'source'>): string {
  return JSON.stringify([userId, source])
}

interface MixVoiceDependencies {
  stream: LiveStream
  /** Recordings folder. */
  folder: string
  program: Pick<FfmpegProgram, 'path'>
  logger: { warn(fields: object, message: string): void }
}

/** Delay before a decoder is restarted, in milliseconds. */
const againMs = 500

/** Sound of one stream of a room, decoded by ffmpeg as it arrives. */
export class MixVoice {
  readonly #dependencies: MixVoiceDependencies
  readonly #line = new SampleLine()
  readonly #ended = new AbortController()
  readonly #done: Promise<void>
  /** Fragment that was read last. */
  #read: LiveFragment | undefined
  /** Message of the failure logged last. */
  #logged = ''

  constructor(dependencies: MixVoiceDependencies) {
    this.#dependencies = dependencies
    this.#done = this.#decode()
  }

  /** Number of the sample up to which the sound is decoded. */
  get end(): number {
    return this.#line.end
  }

  /** Adds the sound to a sum, and drops older sound. @param from number of the first sample of the sum */
  addTo(sum: Float32Array, from: number): void {
    this.#line.addTo(sum, from)
    this.#line.forget(from)
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.#done
  }

  /** Decodes until the voice is closed. Starts a new decoder if the format of the sound changes. Never rejects. */
  async #decode(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      try {
        await this.#run(signal)
      } catch (error) {
        this.#logFailure(error)
      }
      await pause(againMs, { signal })
    }
  }

  /** Logs a repeated failure only once: the next decoder fails in the same way within a second. */
  #logFailure(error: unknown): void {
    const message = String(error)
    if (message === this.#logged) return
    this.#logged = message
    const { stream, logger } = this.#dependencies
    logger.warn({ err: error, ...stream.stream }, 'live mix: the decoder of a voice failed')
  }

  /** Runs one decoder until the voice is closed or its format changes. @throws Error if the decoder fails */
  async #run(signal: AbortSignal): Promise<void> {
    const { stream, folder, program } = this.#dependencies
    const run = startFfmpeg(program, decoderArguments)
    const feed = new PushFeed(run.stdin, { picture: false, sound: true })
    const [whole, over] = [new WholeSamples(), new AbortController()]
    let next: number | undefined
    run.stdout.on('data', (bytes: Buffer) => {
      next ??= Math.round((feed.startedAt ?? 0) * sampleRate)
      const sound = whole.take(bytes)
      this.#line.add(next, sound)
      next += sound.length / 2 / soundChannels
    })
    mustNotFail(run.ended.then(() => over.abort()))
    let failure: unknown
    try {
      const either = AbortSignal.any([signal, over.signal])
      for await (const { fragment, bytes } of liveFragments(stream, folder, either, this.#read)) {
        await feed.add(bytes, fragment.segment / 1_000)
        this.#read = fragment
      }
    } catch (error) {
      failure = error
    }
    const hasEnded = over.signal.aborted
    run.kill()
    const { complaint } = await run.ended
    if (signal.aborted || failure instanceof FormatChangedError) return
    if (failure === undefined && !hasEnded) return
    const why = failure instanceof Error ? failure.message : 'ffmpeg ended'
    // ffmpeg's message is more precise than the broken pipe. It contains no address, because ffmpeg reads and writes
    // only pipes.
    throw new Error(complaint || why, { cause: failure })
  }
}

/** Gaps in the sound become silence, so that the number of a sample determines its time. */
const decoderArguments = [
  ...['-probesize', '32', '-analyzeduration', '0', '-fflags', 'nobuffer', '-f', 'matroska', '-i', 'pipe:0'],
  ...['-af', `aresample=${sampleRate}:async=1:first_pts=0`, '-ac', String(soundChannels), '-flush_packets', '1'],
  ...['-f', 's16le', 'pipe:1'],
]

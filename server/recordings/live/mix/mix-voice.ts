import type { FfmpegProgram } from '../../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { pause } from '../../../../shared/sleep.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import { startFfmpeg } from '../ffmpeg-run.ts'
import { liveFragments } from '../live-fragments.ts'
import type { LiveStream } from '../live-stream.ts'
import type { LiveFragment } from '../live-window.ts'
import { FormatChangedError, PushFeed } from '../push-feed.ts'
import { soundChannels, SampleLine, sampleRate, WholeSamples } from './sample-line.ts'

export interface MixVoiceDependencies {
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

import type { FfmpegProgram } from '../../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { pause } from '../../../../shared/sleep.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import { startFfmpeg } from '../ffmpeg-run.ts'
import { liveFragments } from '../live-fragments.ts'
import type { LiveStream } from '../live-stream.ts'
import type { LiveFragment } from '../live-window.ts'
import { FormatChangedError, PushFeed } from '../push-feed.ts'
import { channels, SampleLine, sampleRate, WholeSamples } from './sample-line.ts'

/** Needs of a voice. */
export interface MixVoiceParts {
  stream: LiveStream
  /** Recordings folder. */
  folder: string
  program: Pick<FfmpegProgram, 'path'>
  logger: { warn(fields: object, message: string): void }
}

/** Wait before a decoder is started again, in milliseconds. */
const againMs = 500

/** Sound of one stream of a room, decoded by ffmpeg as it comes. */
export class MixVoice {
  readonly #parts: MixVoiceParts
  readonly #line = new SampleLine()
  readonly #ended = new AbortController()
  readonly #done: Promise<void>
  /** Fragment that was read last. */
  #read: LiveFragment | undefined
  /** Message of the failure that was logged last. */
  #logged = ''

  constructor(parts: MixVoiceParts) {
    this.#parts = parts
    this.#done = this.#decode()
  }

  /** Number of the sample up to which it is decoded. */
  get end(): number {
    return this.#line.end
  }

  /** Adds its sound to a sum, and forgets what was before. @param from number of the first sample of the sum */
  addTo(sum: Float32Array, from: number): void {
    this.#line.addTo(sum, from)
    this.#line.forget(from)
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.#done
  }

  /** Decodes until it is closed; a sound of another format gets another decoder. Never rejects. */
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

  /** Logs a failure once: the next decoder fails in the same way within a second. */
  #logFailure(error: unknown): void {
    const message = String(error)
    if (message === this.#logged) return
    this.#logged = message
    const { stream, logger } = this.#parts
    logger.warn({ err: error, ...stream.stream }, 'live mix: the decoder of a voice failed')
  }

  /** Runs one decoder, until the voice is closed or its format changes. @throws Error: the decoder failed */
  async #run(signal: AbortSignal): Promise<void> {
    const { stream, folder, program } = this.#parts
    const run = startFfmpeg(program, decoderArguments)
    const feed = new PushFeed(run.stdin, { picture: false, sound: true })
    const [whole, over] = [new WholeSamples(), new AbortController()]
    let next: number | undefined
    run.stdout.on('data', (bytes: Buffer) => {
      next ??= Math.round((feed.startedAt ?? 0) * sampleRate)
      const sound = whole.take(bytes)
      this.#line.add(next, sound)
      next += sound.length / 2 / channels
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
    // ffmpeg's message says more than the broken pipe to it. It reads and writes pipes only: the message holds no address.
    throw new Error(complaint || why, { cause: failure })
  }
}

/** Gaps of the sound become silence, so that every sample has its moment. */
const decoderArguments = [
  ...['-probesize', '32', '-analyzeduration', '0', '-fflags', 'nobuffer', '-f', 'matroska', '-i', 'pipe:0'],
  ...['-af', `aresample=${sampleRate}:async=1:first_pts=0`, '-ac', String(channels), '-flush_packets', '1'],
  ...['-f', 's16le', 'pipe:1'],
]

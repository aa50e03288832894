import type { FfmpegProgram } from '../../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { pause } from '../../../../shared/sleep.ts'
import { startFfmpeg } from '../ffmpeg-run.ts'
import { liveFragments } from '../live-fragments.ts'
import type { LiveStream } from '../live-stream.ts'
import type { LiveFragment } from '../live-window.ts'
import { PushFeed } from '../push-feed.ts'
import { channels, SampleLine, sampleRate, WholeSamples } from './sample-line.ts'

/** Needs of a voice. */
export interface MixVoiceParts {
  stream: LiveStream
  /** Recordings folder. */
  folder: string
  program: Pick<FfmpegProgram, 'path'>
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
      // Another decoder begins after a moment.
      await this.#run(signal).catch(() => {})
      await pause(againMs, { signal })
    }
  }

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
    void run.ended.then(() => over.abort())
    try {
      for await (const { fragment, bytes } of liveFragments(
        stream,
        folder,
        AbortSignal.any([signal, over.signal]),
        this.#read,
      )) {
        await feed.add(bytes, fragment.segment / 1_000)
        this.#read = fragment
      }
    } finally {
      run.kill()
      await run.ended
    }
  }
}

/** Gaps of the sound become silence, so that every sample has its moment. */
const decoderArguments = [
  ...['-probesize', '32', '-analyzeduration', '0', '-fflags', 'nobuffer', '-f', 'matroska', '-i', 'pipe:0'],
  ...['-af', `aresample=${sampleRate}:async=1:first_pts=0`, '-ac', String(channels), '-flush_packets', '1'],
  ...['-f', 's16le', 'pipe:1'],
]

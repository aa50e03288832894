import type { RecordedStream } from '../../../../shared/recordings/segment.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { FfmpegProgram } from '../../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { RecordingIndex } from '../../recording-index.ts'
import { LiveStream, type LiveStreamDependencies } from '../live-stream.ts'
import { soundChannels, sampleRate } from './sample-line.ts'
import { MixVoice } from './mix-voice.ts'

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

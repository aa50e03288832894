import type { RecordedStream } from '../../../../shared/recordings/segment.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import type { FfmpegProgram } from '../../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { RecordingIndex } from '../../recording-index.ts'
import { LiveStream, type LiveStreamParts } from '../live-stream.ts'
import { channels, sampleRate } from './sample-line.ts'
import { MixVoice } from './mix-voice.ts'

/** Needs of the voices of a room. */
export interface VoicesParts extends Omit<LiveStreamParts, 'index'> {
  roomId: string
  index: Pick<RecordingIndex, 'segments' | 'open'>
  /** Recordings folder. */
  folder: string
  program: Pick<FfmpegProgram, 'path'>
  logger: { warn(fields: object, message: string): void }
}

/** Voices of one mix at most: more people than that are not told apart in one sound anyway, and each has a decoder. */
const maxVoices = 16
/** Time that the mix waits for a voice that is behind, in milliseconds. */
const maxLagMs = 6_000

/** Time without a file after which somebody has left, in milliseconds: segments follow each other. */
const leftMs = 10_000

/** Sound of all who are in a room, as one. */
export class Voices {
  readonly #parts: VoicesParts
  readonly #voices = new Map<string, { voice: MixVoice; seenAt: number }>()

  constructor(parts: VoicesParts) {
    this.#parts = parts
  }

  /** Begins with those who came, and ends with those who left. */
  follow(): void {
    const { roomId, index, clock } = this.#parts
    const present = index.open({ roomId, quality: 'main' }).filter(({ audioCodec }) => audioCodec !== '')
    const now = clock()
    for (const { userId, source, quality } of present) {
      const stream: RecordedStream = { roomId, userId, source, quality }
      const key = keyOf(stream)
      const known = this.#voices.get(key)
      if (known !== undefined) known.seenAt = now
      else if (this.#voices.size < maxVoices) {
        const voice = new MixVoice({ ...this.#parts, stream: new LiveStream(stream, this.#parts) })
        this.#voices.set(key, { voice, seenAt: now })
      }
    }
    for (const [key, { voice, seenAt }] of this.#voices) {
      if (now - seenAt <= leftMs) continue
      this.#voices.delete(key)
      mustNotFail(voice.close())
    }
  }

  /** Number of the sample up to which every voice is there, or was waited for. @param latest it is not more than this */
  readyTo(latest: number): number {
    const ends = [...this.#voices.values()].map(({ voice }) => voice.end).filter((end) => end !== -Infinity)
    const waited = Math.round(((this.#parts.clock() - maxLagMs) / 1_000) * sampleRate)
    return Math.min(latest, Math.max(waited, Math.min(latest, ...ends)))
  }

  /** Adds the voices of a span. @param from, to numbers of samples */
  sum(from: number, to: number): Float32Array {
    const sum = new Float32Array((to - from) * channels)
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

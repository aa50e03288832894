import { payloadOf, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import type { FrameAssembly, SampleDecoder } from '../transcode/frame-assembly.ts'
import { flacFrame, flacSamples, type PcmFormat } from './flac-encoder.ts'
import type { AssembledSound } from './track-format.ts'

/**
 * Tolerated difference between timestamps and number of samples, in milliseconds. Some cameras derive the timestamps
 * from milliseconds, or from their clock.
 */
const inexactMs = 25

/** Encodes samples as FLAC, which is lossless and playable from a file in every browser. */
export class PcmFrames implements FrameAssembly {
  readonly #decode: SampleDecoder
  readonly #take: (sound: AssembledSound) => void
  readonly #sampleRate: number
  readonly #ticksPerSample: number
  readonly #tracks: readonly Int16Array[]
  readonly #size: number
  #count = 0
  #number = 0
  /** Timestamp of the first sample, and of the sample after the last; -1: none yet. */
  #first = 0
  #next = -1
  /** Sequence number of the last packet; -1: none yet. */
  #sequence = -1

  /**
   * @param clockRate clock rate of the timestamps, in Hz. For G.722 it differs from the sample rate (RFC 3551, section
   *   4.5.2).
   */
  constructor(
    { sampleRate, channels }: PcmFormat,
    clockRate: number,
    decode: SampleDecoder,
    take: (sound: AssembledSound) => void,
  ) {
    this.#decode = decode
    this.#take = take
    this.#sampleRate = sampleRate
    this.#ticksPerSample = clockRate / sampleRate
    this.#size = flacSamples(sampleRate)
    this.#tracks = Array.from({ length: channels }, () => new Int16Array(this.#size))
  }

  push(packet: Buffer): void {
    const timestamp = timestampOf(packet)
    const samples = this.#decode(payloadOf(packet))
    const channels = this.#tracks.length
    const count = Math.floor(samples.length / channels)
    const sequence = sequenceOf(packet)
    const isLoss = this.#sequence >= 0 && sequenceDistance(this.#sequence, sequence) > 1
    this.#sequence = sequence
    this.#bridge(timestamp, isLoss)
    for (let i = 0; i < count; i++) {
      if (this.#count === 0) this.#first = Math.round(timestamp + i * this.#ticksPerSample) >>> 0
      for (let each = 0; each < channels; each++) this.#put(each, samples[i * channels + each] ?? 0)
      this.#count += 1
      if (this.#count === this.#size) this.#send()
    }
    this.#next = Math.round(timestamp + count * this.#ticksPerSample) >>> 0
  }

  /**
   * Replaces missing samples within a frame by silence. If the gap is longer, or the timestamp is unrelated, the
   * current frame is completed with silence and written.
   */
  #bridge(timestamp: number, isLoss: boolean): void {
    if (this.#next < 0 || this.#count === 0) return
    const missing = Math.round(((timestamp - this.#next) | 0) / this.#ticksPerSample)
    // Gaps from lost packets are always filled, because short gaps would accumulate.
    if (Math.abs(missing) <= (inexactMs * this.#sampleRate) / 1_000 && !(isLoss && missing > 0)) return
    const isWithin = missing > 0 && missing < this.#size - this.#count
    const end = isWithin ? this.#count + missing : this.#size
    for (const samples of this.#tracks) samples.fill(0, this.#count, end)
    this.#count = end
    if (!isWithin) this.#send()
  }

  #put(channel: number, sample: number): void {
    const samples = this.#tracks[channel]
    if (samples !== undefined) samples[this.#count] = sample
  }

  #send(): void {
    const data = flacFrame(this.#tracks, this.#sampleRate, this.#number)
    this.#number += 1
    this.#count = 0
    this.#take({ timestamp: this.#first, data, durationMs: (this.#size * 1_000) / this.#sampleRate })
  }
}

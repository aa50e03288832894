import type { RawFormat } from '../feeds/raw-tap.ts'
import { payloadOf, sequenceDistance, sequenceOf, timestampOf } from '../rtp/packet.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import type { FrameAssembly, SampleDecoder } from '../transcode/frame-assembly.ts'
import { decodedSound } from '../transcode/pcm-decoders.ts'
import { PlainFrames } from '../transcode/sound-frames.ts'
import { sourceTrack } from '../transcode/source-track.ts'
import { flacDescription, flacFrame, flacSamples, type PcmFormat } from './flac-encoder.ts'
import type { AssembledSound, SoundFormat } from './track-format.ts'

/** Frame durations by the configuration in the first byte, in milliseconds (RFC 6716, section 3.1). */
const silkMs = [10, 20, 40, 60]
const hybridMs = [10, 20]
const celtMs = [2.5, 5, 10, 20]
/** Maximum duration of a packet, in milliseconds (RFC 6716, section 3.4, R5). */
const maxPacketMs = 120
/** 20 ms of silence in stereo, full band (RFC 6716: an empty CELT frame). */
export const opusSilence = Buffer.from([0xfc, 0xff, 0xfe])
export const opusSilenceMs = 20

/** Samples per AAC frame (ISO/IEC 14496-3, section 4.5.1.1). */
const aacSamples = 1_024
/**
 * Tolerated difference between timestamps and number of samples, in milliseconds. Some cameras derive the timestamps
 * from milliseconds, or from their clock.
 */
const inexactMs = 25

/** Format of an audio track in a file, and its assembly. */
export interface RecordedSound {
  format: SoundFormat
  assembly: FrameAssembly
}

/** Creates an assembly of sound for a file. Returns undefined for a codec that is not recorded. */
export function soundAssembly(raw: RawFormat, take: (sound: AssembledSound) => void): RecordedSound | undefined {
  const { codec, clockRate } = raw
  if (codec === 'OPUS') return opus(take)
  if (codec === 'MPEG4-GENERIC' || codec === 'MP4A-LATM') return aac(raw, take)
  const pcm = decodedSound(raw)
  return pcm && { format: flacFormat(pcm), assembly: new PcmFrames(pcm, clockRate, pcm.decoder(), take) }
}

function opus(take: (sound: AssembledSound) => void): RecordedSound {
  const assembly = new PlainFrames(({ timestamp, frame }) => {
    const durationMs = opusDurationMs(frame)
    // Copied, so that the frame does not keep the rest of its buffer in memory.
    if (durationMs > 0) take({ timestamp, data: Buffer.from(frame), durationMs })
  })
  return { format: opusFormat, assembly }
}

/**
 * Identification header of Opus (RFC 7845, section 5.1): two channels, 48 kHz, no pre-skip, because a recording begins
 * in the middle of a stream.
 */
const opusHead = Buffer.from('4f707573486561640102000080bb0000000000', 'hex')

const opusFormat: SoundFormat = {
  codec: 'opus',
  codecString: 'opus',
  sampleRate: 48_000,
  channels: 2,
  description: opusHead,
  silence: { data: opusSilence, durationMs: opusSilenceMs },
}

function flacFormat(pcm: PcmFormat): SoundFormat {
  const { sampleRate, channels } = pcm
  const size = flacSamples(sampleRate)
  const silent = Array.from({ length: channels }, () => new Int16Array(size))
  return {
    codec: 'flac',
    codecString: 'flac',
    sampleRate,
    channels,
    description: flacDescription(pcm),
    silence: { data: flacFrame(silent, sampleRate, 0), durationMs: (size * 1_000) / sampleRate },
  }
}

function aac(raw: RawFormat, take: (sound: AssembledSound) => void): RecordedSound | undefined {
  const track: RtspTrack = { ...raw, kind: 'audio', payloadType: 0, control: '' }
  const source = sourceTrack(track)
  const { audio, codecPrivate } = source?.matroska ?? {}
  if (source === undefined || audio === undefined || codecPrivate === undefined) return undefined
  const type = ((codecPrivate[0] ?? 0) >> 3) & 0x1f
  const durationMs = (aacSamples * 1_000) / audio.sampleRate
  return {
    format: { codec: 'aac', codecString: `mp4a.40.${type}`, ...audio, description: codecPrivate, silence: undefined },
    assembly: source.assembly(({ timestamp, frame }) => take({ timestamp, data: Buffer.from(frame), durationMs })),
  }
}

/** Returns the duration of an Opus packet in milliseconds; 0 if it is broken. */
function opusDurationMs(packet: Buffer): number {
  const [first, second] = packet
  if (first === undefined) return 0
  const config = first >> 3
  const frameMs = config < 12 ? silkMs[config & 3] : config < 16 ? hybridMs[config & 1] : celtMs[config & 3]
  const code = first & 3
  const frames = code === 0 ? 1 : code < 3 ? 2 : (second ?? 0) & 0x3f
  const duration = (frameMs ?? 0) * frames
  return duration <= maxPacketMs ? duration : 0
}

/** Encodes samples as FLAC, which is lossless and playable from a file in every browser. */
class PcmFrames implements FrameAssembly {
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

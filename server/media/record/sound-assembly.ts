import type { RawFormat } from '../feeds/raw-tap.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import type { FrameAssembly } from '../transcode/frame-assembly.ts'
import { PlainFrames } from '../transcode/sound-frames.ts'
import { sourceTrack } from '../transcode/source-track.ts'
import { flacDescription } from './flac-encoder.ts'
import { flacSilence, G711Frames, g711FrameMs } from './g711-frames.ts'
import { opusDurationMs, opusSilence, opusSilenceMs } from './opus.ts'
import type { AssembledSound, SoundFormat } from './track-format.ts'

/** How a track of sound lies in a file. */
export interface RecordedSound {
  format: SoundFormat
  assembly: FrameAssembly
}

/** Samples of a frame of AAC (ISO/IEC 14496-3, section 4.5.1.1). */
const aacSamples = 1_024

/** Puts sound together for a file; undefined for a codec that is not recorded. */
export function soundAssembly(raw: RawFormat, take: (sound: AssembledSound) => void): RecordedSound | undefined {
  const { codec, clockRate, channels } = raw
  if (codec === 'OPUS') return opus(take)
  if ((codec === 'PCMU' || codec === 'PCMA') && clockRate === 8_000 && channels === 1) {
    return { format: flacFormat, assembly: new G711Frames(codec, take) }
  }
  return codec === 'MPEG4-GENERIC' || codec === 'MP4A-LATM' ? aac(raw, take) : undefined
}

function opus(take: (sound: AssembledSound) => void): RecordedSound {
  const assembly = new PlainFrames(({ timestamp, frame }) => {
    const durationMs = opusDurationMs(frame)
    // A copy, so that it does not keep what else came with it.
    if (durationMs > 0) take({ timestamp, data: Buffer.from(frame), durationMs })
  })
  return { format: opusFormat, assembly }
}

/** Identification header of Opus (RFC 7845, section 5.1): two channels, 48 kHz, nothing to skip in the middle of a stream. */
const opusHead = Buffer.from('4f707573486561640102000080bb0000000000', 'hex')

const opusFormat: SoundFormat = {
  codec: 'opus',
  codecString: 'opus',
  sampleRate: 48_000,
  channels: 2,
  description: opusHead,
  silence: { data: opusSilence, durationMs: opusSilenceMs },
}

const flacFormat: SoundFormat = {
  codec: 'flac',
  codecString: 'flac',
  sampleRate: 8_000,
  channels: 1,
  description: flacDescription,
  silence: { data: flacSilence, durationMs: g711FrameMs },
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

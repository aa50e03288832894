import ndc, { type Audio, type Video } from 'node-datachannel'
import type { OfferedCodec, OfferedMedia } from './offer.ts'

/** Returns the section of an answer that sends one codec, as it was offered. */
export function sendingSection(
  { kind, mid }: OfferedMedia,
  { payloadType, name, parameters }: OfferedCodec,
): Audio | Video {
  // The library treats an undefined argument as invalid.
  const profile: [] | [string] = parameters === '' ? [] : [parameters]
  if (kind === 'audio') {
    const audio = new ndc.Audio(mid, 'SendOnly')
    if (name === 'OPUS') audio.addOpusCodec(payloadType, ...profile)
    else audio.addAudioCodec(payloadType, name)
    return audio
  }
  const video = new ndc.Video(mid, 'SendOnly')
  if (name === 'H264') video.addH264Codec(payloadType, ...profile)
  else if (name === 'VP8') video.addVP8Codec(payloadType)
  else video.addVideoCodec(payloadType, name, ...profile)
  return video
}

/** Returns an inactive section for a part of an offer that is not used, with its first codec as offered. */
export function silentSection({ kind, mid, codecs: [first] }: OfferedMedia): Audio | Video {
  if (kind === 'video') {
    const video = new ndc.Video(mid, 'Inactive')
    video.addVideoCodec(first?.payloadType ?? 96, first?.encoding ?? 'VP8')
    return video
  }
  const audio = new ndc.Audio(mid, 'Inactive')
  audio.addAudioCodec(first?.payloadType ?? 0, first?.encoding ?? 'PCMU')
  return audio
}

/** Returns the only section of a connection, which receives every packet of the connection. */
export function receivingSection(mid: string, { payloadType, name }: { payloadType: number; name: string }): Audio {
  const audio = new ndc.Audio(mid, 'RecvOnly')
  audio.addAudioCodec(payloadType, name)
  return audio
}

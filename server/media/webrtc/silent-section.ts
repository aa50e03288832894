import ndc, { type Audio, type Video } from 'node-datachannel'
import type { OfferedMedia } from './offer.ts'

/** An inactive section for a part of an offer that is not wanted. */
export function silentSection(media: OfferedMedia): Audio | Video {
  if (media.kind === 'video') {
    const video = new ndc.Video(media.mid, 'Inactive')
    video.addVP8Codec(
      media.codecs.find(({ name }) => name === 'VP8')?.payloadType ?? media.codecs[0]?.payloadType ?? 96,
    )
    return video
  }
  const audio = new ndc.Audio(media.mid, 'Inactive')
  audio.addOpusCodec(
    media.codecs.find(({ name }) => name === 'OPUS')?.payloadType ?? media.codecs[0]?.payloadType ?? 111,
  )
  return audio
}

import type { Shortcoming } from '../../../shared/media/transcoding.ts'
import type { AudioFormat, VideoFormat } from '../feeds/feed-format.ts'
import { codecName, reasonOf } from '../rtsp/codec-support.ts'
import type { Offer } from './offer.ts'

/** Formats beside codecs: repair, protection, comfort noise and dialled digits. */
const secondary = new Set(['RTX', 'RED', 'ULPFEC', 'FLEXFEC-03', 'CN', 'TELEPHONE-EVENT'])

/** Codecs of one kind that an offer sends. */
export function sentCodecs(offer: Offer, kind: 'video' | 'audio'): string[] {
  const sent = offer.media.filter(
    (media) => media.kind === kind && media.direction !== 'recvonly' && media.direction !== 'inactive',
  )
  const names = sent.flatMap(({ codecs }) => codecs.map(({ name }) => name))
  return [...new Set(names)].filter((name) => !secondary.has(name))
}

/** What of an offer is not heard, or not recorded. A picture that is not taken refuses the whole offer. */
export function publishedShortcomings(
  offer: Offer,
  video: VideoFormat | undefined,
  audio: AudioFormat | undefined,
): Shortcoming[] {
  if (audio !== undefined) {
    if (video?.codec !== 'VP8' || audio.codec === 'OPUS') return []
    const detail = codecName(audio)
    return [{ kind: 'audio', way: 'not_recorded', reason: 'webm', detail, recorded: false }]
  }
  const names = sentCodecs(offer, 'audio')
  const [first] = names
  if (first === undefined) return []
  const detail = names.map((codec) => codecName({ codec })).join(', ')
  return [{ kind: 'audio', way: 'none', reason: reasonOf(first, 'audio'), detail, recorded: false }]
}

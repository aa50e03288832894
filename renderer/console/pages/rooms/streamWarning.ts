import type { StreamStats } from '../../../../shared/media/stream-stats.ts'
import type { Translate } from '../../i18n/text.ts'
import { shortcomingText } from '../devices/tracks.ts'

/** Time without packets after which a stream counts as stalled, in milliseconds. */
const stalledMs = 4_000

/** Returns whether a stream has stopped sending. */
export function isStalled({ last_packet_at }: Pick<StreamStats, 'last_packet_at'>, now: number): boolean {
  return last_packet_at > 0 && now - last_packet_at > stalledMs
}

/**
 * Returns the most severe problem of a stream, or all its shortcomings, with the remedy; empty: no problem.
 * @param ofDevice whether the stream is a device's: a missing picture is a problem only then
 */
export function streamWarning(stream: StreamStats, ofDevice: boolean, now: number, t: Translate): string {
  const { conversion, shortcomings } = stream
  if (isStalled(stream, now)) return t('media.warnings.stalled')
  if (conversion?.state === 'waiting') return t('media.warnings.waiting')
  if (conversion?.state === 'failed') return t('media.warnings.failed')
  if (shortcomings.length > 0) return shortcomings.map((one) => shortcomingText(one, t)).join(' ')
  if (stream.b_frames) return t('media.streams.bFrames')
  if (ofDevice && stream.video_codec === '') return t('media.warnings.noPicture')
  return ''
}

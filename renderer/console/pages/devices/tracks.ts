import type { Shortcoming } from '../../../../shared/media/transcoding.ts'
import type { Translate } from '../../i18n/text.ts'
import type { ProbeResult } from './useProbe.ts'

export type Track = ProbeResult['tracks'][number]

const names: Readonly<Record<string, string>> = {
  H264: 'H.264',
  H265: 'H.265',
  JPEG: 'Motion JPEG',
  PCMU: 'G.711 μ-law',
  PCMA: 'G.711 A-law',
  G722: 'G.722',
  OPUS: 'Opus',
  'MPEG4-GENERIC': 'AAC',
  'MP4A-LATM': 'AAC',
  MP4V: 'MPEG-4',
  'MP4V-ES': 'MPEG-4',
  'H263-1998': 'H.263',
  'H263-2000': 'H.263',
  H263: 'H.263',
}

/** Returns "H.264" for `H264`; an unknown codec is returned with the camera's name for it. */
export function codecName({ codec }: Track): string {
  const name = codec.toUpperCase()
  return names[name] ?? (name.replace(/^(?:AAL2-)?G726-/, 'G.726-') || '?')
}

/** Returns "1920 × 1080" if the camera reports it; else empty. */
export function resolutionOf({ detail }: Track): string {
  return /\d+ × \d+/.exec(detail)?.[0] ?? ''
}

/** Advice about a track that some browsers cannot play unchanged, or that is not recorded. */
export type TrackRemedy = 'ffmpeg' | 'order' | 'keyFrames' | 'pictures' | 'sound' | 'recordPictures' | 'recordSound'

/** Describes a shortcoming: the reason, the camera's answer, the remedies, and whether the track is recorded. */
export function shortcomingText(one: Shortcoming, t: Translate): string {
  const note = trackNote(one)
  if (note === null) return ''
  const remedies = note.remedies.map((remedy) => t(`devices.tracks.remedies.${remedy}`))
  if (one.way === 'not_recorded' && one.reason !== 'webm')
    return [t('devices.tracks.lacks', { codec: one.detail }), ...remedies].join(' ')
  return [
    t(`devices.tracks.reasons.${note.reason}`),
    ...(one.way === 'refused' ? [`${one.detail}.`] : []),
    ...remedies,
    t(one.recorded ? 'devices.tracks.recorded' : 'devices.tracks.notRecorded'),
  ].join(' ')
}

/** Returns the reason why some browsers cannot play a track, and the remedy; null: no problem. */
export function trackNote({
  kind,
  way,
  reason,
}: Pick<Track, 'kind' | 'reason'> & { way: Track['way'] | Shortcoming['way'] }): {
  reason: NonNullable<Track['reason']>
  remedies: TrackRemedy[]
} | null {
  if (reason === null) return null
  if (way === 'converted' || way === 'refused') return { reason, remedies: [] }
  if (way === 'not_recorded') {
    const remedy = kind === 'video' ? 'recordPictures' : 'recordSound'
    return { reason, remedies: reason === 'webm' ? [] : [remedy] }
  }
  const device = kind === 'video' ? pictureRemedy(reason) : 'sound'
  return { reason, remedies: way === 'needs_ffmpeg' ? ['ffmpeg', device] : [device] }
}

function pictureRemedy(reason: NonNullable<Track['reason']>): TrackRemedy {
  if (reason === 'b_frames') return 'order'
  return reason === 'recovery_points' ? 'keyFrames' : 'pictures'
}

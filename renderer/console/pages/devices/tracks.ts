import type { ProbeResult } from './useProbe.ts'

export type Track = ProbeResult['tracks'][number]

/** Common names of codecs. */
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

/** "H.264" for `H264`; an unknown codec is shown as named by the camera. */
export function codecName({ codec }: Track): string {
  const name = codec.toUpperCase()
  return names[name] ?? (name.replace(/^(?:AAL2-)?G726-/, 'G.726-') || '?')
}

/** "1920 × 1080" if the camera describes it; else empty. */
export function resolutionOf({ detail }: Track): string {
  return /\d+ × \d+/.exec(detail)?.[0] ?? ''
}

/** Advice about a track that some browsers cannot play unchanged. */
export type TrackRemedy = 'ffmpeg' | 'order' | 'pictures' | 'sound'

/** Reason why some browsers cannot play a track, and the remedy; null: no problem. */
export function trackNote({
  kind,
  way,
  reason,
}: Pick<Track, 'kind' | 'way' | 'reason'>): { reason: NonNullable<Track['reason']>; remedies: TrackRemedy[] } | null {
  if (reason === null) return null
  if (way === 'converted') return { reason, remedies: [] }
  const device: TrackRemedy = reason === 'b_frames' ? 'order' : kind === 'video' ? 'pictures' : 'sound'
  return { reason, remedies: way === 'needs_ffmpeg' ? ['ffmpeg', device] : [device] }
}

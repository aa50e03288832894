import type { ProbeResult } from './useProbe.ts'

export type Track = ProbeResult['tracks'][number]

/** Names of codecs as people write them. */
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
}

/** "H.264" for `H264`; a codec that is not known is shown as the camera names it. */
export function codecName({ codec }: Track): string {
  return names[codec.toUpperCase()] ?? (codec || '?')
}

/** "1920 × 1080" where the camera describes it; else empty. */
export function resolutionOf({ detail }: Track): string {
  return /\d+ × \d+/.exec(detail)?.[0] ?? ''
}

/** Which remark belongs to a track; null where its name says everything, `detail` where only the controller knows. */
export function trackNote(
  track: Track,
): 'b_frames' | 'h265' | 'jpeg' | 'aac' | 'video_other' | 'audio_other' | 'detail' | null {
  const codec = track.codec.toUpperCase()
  if (track.carried && track.detail.includes('B-frames')) return 'b_frames'
  if (track.carried) return codec === 'H265' ? 'h265' : null
  if (codec === 'JPEG') return 'jpeg'
  if (codec === 'MPEG4-GENERIC' || codec === 'MP4A-LATM') return 'aac'
  if (codec in names && !codec.startsWith('MP4V')) return 'detail'
  return track.kind === 'video' ? 'video_other' : 'audio_other'
}

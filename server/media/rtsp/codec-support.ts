import {
  type Shortcoming,
  shortcomingDetail,
  type TrackReason,
  type TrackWay,
} from '../../../shared/media/transcoding.ts'
import { decodedSound } from '../transcode/pcm-decoders.ts'
import { isInterleaved, sourceTrack } from '../transcode/source-track.ts'
import { type Abilities, ffmpegInstallCommand, noAbilities } from '../transcode/transcoding.ts'
import type { RtspTrack } from './description.ts'
import type { RtspError } from './rtsp-error.ts'
import { describedParameters, type SequenceParameters } from './resolution.ts'

/** Delivery of a camera's track to browsers. */
export interface CodecSupport {
  /** Whether the track is sent to rooms, even if some browsers cannot play it. */
  carried: boolean
  way: TrackWay
  /** Reason why the track does not reach every browser unchanged; null: every browser plays it unchanged. */
  reason: TrackReason | null
  /** Explanation for the operator, in one sentence. */
  detail: string
}

interface Obstacle {
  reason: TrackReason
  /** Whether some browsers play the track unchanged, or show part of it. */
  partly: boolean
  /** Description of the obstacle, and advice to the operator if the track cannot be converted. */
  what: string
  remedy: string
}

/** Determines how browsers receive a camera's track: unchanged, or converted if this machine can convert it. */
export function codecSupportOf(track: RtspTrack, abilities: Abilities = noAbilities): CodecSupport {
  const name = codecName(track)
  if (track.encrypted === true) {
    const reason = track.kind === 'video' ? 'video_other' : 'audio_other'
    return { carried: false, way: 'none', reason, detail: `${name} encrypted with SRTP: switch SRTP off in the device` }
  }
  const obstacle = track.kind === 'video' ? pictureObstacle(track) : soundObstacle(track)
  if (obstacle === undefined) return { carried: true, way: 'direct', reason: null, detail: name }
  const { reason, partly, what, remedy } = obstacle
  const convertible = sourceTrack(track) !== undefined
  if (convertible && (track.kind === 'video' ? abilities.pictures : abilities.sound)) {
    return { carried: true, way: 'converted', reason, detail: `${what}: shown through ffmpeg` }
  }
  if (!convertible) return { carried: partly, way: 'none', reason, detail: `${what}: ${remedy}` }
  const missing = `with ffmpeg on the machine of the node (${ffmpegInstallCommand()}) it would be shown`
  return { carried: partly, way: 'needs_ffmpeg', reason, detail: `${what}: ${remedy}; ${missing}` }
}

/** Remedy for B-frames. WebRTC has no presentation order: browsers show pictures as they arrive and drop late ones. */
const orderRemedy = 'browsers show few of its pictures; switch B-frames off in the device'
const showsNone = 'browsers do not show it; set the device to H.264 in its main or high profile'
const setToH264 = 'it is not supported: set the device to H.264'
const setSound = 'it is not supported, so only the picture is shown: set the device to G.711 or Opus for sound'

/** H.264 profiles that every browser supports: baseline, main and high. */
const shownProfiles = new Set([66, 77, 100])

/** Returns the obstacle to playing H.264 with these parameters in browsers; undefined: none. */
export function parameterObstacle(parameters: SequenceParameters | undefined): Obstacle | undefined {
  if (parameters === undefined) return undefined
  const { profile, chroma, bitDepth, interlaced, reordered } = parameters
  const none = (reason: TrackReason, what: string): Obstacle => ({ reason, partly: true, what, remedy: showsNone })
  if (bitDepth > 8) return none('bit_depth', `H.264 with ${bitDepth} bits`)
  if (chroma !== 1)
    return none(
      'chroma',
      `H.264 with colour in ${['monochrome', '4:2:0', '4:2:2', '4:4:4'][chroma] ?? 'an unknown form'}`,
    )
  if (interlaced) return none('interlaced', 'Interlaced H.264')
  if (!shownProfiles.has(profile)) return none('profile', `H.264 of profile ${profile}`)
  if ((reordered ?? 0) > 0) {
    return { reason: 'b_frames', partly: true, what: 'H.264 with B-frames', remedy: orderRemedy }
  }
  return undefined
}

function pictureObstacle(track: RtspTrack): Obstacle | undefined {
  const { codec, clockRate, parameters } = track
  const name = codecName(track)
  const never = (reason: TrackReason, what: string): Obstacle => ({ reason, partly: false, what, remedy: setToH264 })
  if (codec === 'H264' || codec === 'H265') {
    if (isInterleaved(parameters))
      return { ...never('interleaved', `${name} in interleaved mode`), remedy: 'switch that mode off in the device' }
    if (clockRate !== 90_000) return never('clock', `${name} with a clock rate that is out of range`)
    if (codec === 'H264') return parameterObstacle(describedParameters(track))
    const reordered = (describedParameters(track)?.reordered ?? 0) > 0
    return {
      reason: 'h265',
      partly: true,
      what: reordered ? 'H.265 with B-frames' : 'H.265',
      remedy: reordered
        ? orderRemedy
        : 'only viewers whose browser decodes it see the picture; H.264 suits every viewer',
    }
  }
  if (codec === 'VP8') return undefined
  return never(unsupportedReasonOf(codec, 'video'), name)
}

/** Reasons by codec. Other codecs have the general reason of their kind, `video_other` or `audio_other`. */
const reasons: ReadonlyMap<string, TrackReason> = new Map([
  ['JPEG', 'jpeg'],
  ['MP4V-ES', 'mpeg4'],
  ['H263', 'h263'],
  ['H263-1998', 'h263'],
  ['H263-2000', 'h263'],
  ['VP9', 'vp9'],
  ['AV1', 'av1'],
  ['AV1X', 'av1'],
  ['H266', 'h266'],
  ['H261', 'h261'],
  ['THEORA', 'theora'],
  ['MPV', 'mpeg_video'],
  ['MP2T', 'mpeg_ts'],
  ['MPEG4-GENERIC', 'aac'],
  ['MP4A-LATM', 'aac'],
  ['L16', 'l16'],
  ['MPA', 'mpeg_audio'],
  ['SPEEX', 'speex'],
  ['GSM', 'gsm'],
  ['G723', 'g723'],
  ['G728', 'g728'],
  ['G729', 'g729'],
  ['VORBIS', 'vorbis'],
])

function soundObstacle(track: RtspTrack): Obstacle | undefined {
  const { codec, clockRate, channels } = track
  const name = codecName(track)
  if (codec === 'OPUS') return undefined
  const obstacle = (reason: TrackReason, what = name): Obstacle => ({ reason, partly: false, what, remedy: setSound })
  if (codec === 'PCMU' || codec === 'PCMA' || codec === 'G722') {
    if (clockRate === 8000 && channels === 1) return undefined
    return obstacle('rate', `${name} with other than 8 kHz and one channel`)
  }
  return obstacle(unsupportedReasonOf(codec, 'audio'))
}

/** Returns the reason why browsers cannot play a codec. */
export function unsupportedReasonOf(codec: string, kind: RtspTrack['kind']): TrackReason {
  if (codec.includes('G726')) return 'g726'
  return reasons.get(codec) ?? (kind === 'video' ? 'video_other' : 'audio_other')
}

/** Display names of codecs. */
const names: ReadonlyMap<string, string> = new Map([
  ['H264', 'H.264'],
  ['H265', 'H.265'],
  ['JPEG', 'Motion JPEG'],
  ['MP4V-ES', 'MPEG-4 Visual'],
  ['H263', 'H.263'],
  ['H263-1998', 'H.263'],
  ['H263-2000', 'H.263'],
  ['VP9', 'VP9'],
  ['AV1', 'AV1'],
  ['AV1X', 'AV1'],
  ['H266', 'H.266'],
  ['H261', 'H.261'],
  ['MPV', 'MPEG-1/2 video'],
  ['MP2T', 'an MPEG transport stream'],
  ['THEORA', 'Theora'],
  ['OPUS', 'Opus'],
  ['MPA', 'MPEG audio (MP2, MP3)'],
  ['GSM', 'GSM'],
  ['SPEEX', 'Speex'],
  ['VORBIS', 'Vorbis'],
  ['G722', 'G.722'],
  ['G723', 'G.723.1'],
  ['G728', 'G.728'],
  ['G729', 'G.729'],
  ['PCMU', 'G.711 μ-law'],
  ['PCMA', 'G.711 A-law'],
  ['MPEG4-GENERIC', 'AAC'],
  ['MP4A-LATM', 'AAC'],
])

/** Returns the display name of a codec; for an unknown codec the camera's name. */
export function codecName({ codec }: Pick<RtspTrack, 'codec'>): string {
  return names.get(codec) ?? (codec.replace(/^(?:AAL2-)?G726-/, 'G.726-') || 'an unknown codec')
}

/**
 * Returns the obstacle that keeps a track from browsers, e.g. `H.264 in interleaved mode`; the name of its codec if
 * there is no obstacle.
 */
export function obstacleName(track: RtspTrack): string {
  return (track.kind === 'video' ? pictureObstacle(track) : soundObstacle(track))?.what ?? codecName(track)
}

/**
 * Selects the tracks to pull, at most one per kind: the first track that plays unchanged, otherwise the first
 * convertible track, otherwise the first track that some browsers play.
 */
export function tracksToPull(tracks: readonly RtspTrack[], abilities: Abilities = noAbilities): RtspTrack[] {
  const best = (kind: RtspTrack['kind']): RtspTrack | undefined => {
    const carried = receivedTracks(tracks)
      .filter((track) => track.kind === kind)
      .flatMap((track) =>
        [track, ...(track.alternatives ?? [])].map((format) => ({ track, ...codecSupportOf(format, abilities) })),
      )
      .filter((each) => each.carried)
    return (carried.find(({ way }) => way === 'direct') ?? carried.find(({ way }) => way === 'converted') ?? carried[0])
      ?.track
  }
  return [best('video'), best('audio')].filter((track) => track !== undefined)
}

/**
 * Returns the readable tracks that the camera sends. `sendonly` is ambiguous: it can mark ONVIF's back channel, to
 * which a client sends (ONVIF Streaming Specification, section 5.3), or media of the camera. A `sendonly` track counts
 * as a back channel if a track of the same kind is not `sendonly`, or if any track is `recvonly`.
 */
function receivedTracks(tracks: readonly RtspTrack[]): readonly RtspTrack[] {
  const isOnvif = tracks.some(({ direction }) => direction === 'recvonly')
  const isBackChannel = ({ kind, direction }: RtspTrack): boolean =>
    direction === 'sendonly' &&
    (isOnvif || tracks.some((other) => other.kind === kind && other.direction !== 'sendonly'))
  return tracks.filter((track) => track.direction !== 'inactive' && track.encrypted !== true && !isBackChannel(track))
}

/**
 * Returns the pulled tracks, with a readable sound track if none is pulled. Such sound is recorded but not sent to
 * browsers.
 */
export function withRecordedSound(tracks: readonly RtspTrack[], pulled: readonly RtspTrack[]): readonly RtspTrack[] {
  if (pulled.some(({ kind }) => kind === 'audio')) return pulled
  const sound = receivedTracks(tracks).find((track) => track.kind === 'audio' && isRecordedSound(track))
  return sound === undefined ? pulled : [...pulled, sound]
}

/** Video codecs that recordings support. */
const recordedPictures = new Set(['H264', 'H265', 'VP8'])

/** Whether recordings support a sound track, unchanged or decoded. */
function isRecordedSound(track: RtspTrack): boolean {
  if (track.codec === 'OPUS') return true
  return codecName(track) === 'AAC' ? sourceTrack(track) !== undefined : decodedSound(track) !== undefined
}

/**
 * Whether a sound track is recorded in converted form, because no file that browsers play supports its codec. Always
 * false with a converted picture, which would have to be converted during the whole recording.
 */
export function isRecordedConverted(track: RtspTrack, picture: RtspTrack | undefined, abilities: Abilities): boolean {
  const isConverted = (each: RtspTrack): boolean => codecSupportOf(each, abilities).way === 'converted'
  return !isRecordedSound(track) && isConverted(track) && !(picture !== undefined && isConverted(picture))
}

/** Returns the reason why a track is not recorded; undefined: it is recorded. */
function lackInRecordings(
  track: RtspTrack,
  picture: RtspTrack | undefined,
  abilities: Abilities,
): TrackReason | undefined {
  const { codec, kind } = track
  if (kind === 'audio' && isRecordedConverted(track, picture, abilities)) return undefined
  if (kind === 'audio' && codec !== 'OPUS' && picture?.codec === 'VP8') return 'webm'
  if (kind === 'video' ? recordedPictures.has(codec) : isRecordedSound(track)) return undefined
  return codecSupportOf(track).reason ?? (kind === 'video' ? 'video_other' : 'audio_other')
}

/**
 * Lists media of a camera that does not reach every browser or is not recorded: for each kind the obstacle of the
 * pulled track (or of the first described track, if none is pulled), and the tracks that the camera refused.
 */
export function shortcomingsOf(
  described: readonly RtspTrack[],
  pulled: readonly RtspTrack[],
  abilities: Abilities,
  refusals: readonly Pick<RtspError, 'detail' | 'message'>[] = [],
): Shortcoming[] {
  // Only sound can be refused: a camera that refuses its picture is not pulled.
  const refused = refusals.map(({ detail, message }): Shortcoming => {
    const said = (detail || message).slice(0, shortcomingDetail)
    return { kind: 'audio', way: 'refused', reason: 'refused', detail: said, recorded: false }
  })
  const picture = pulled.find(({ kind }) => kind === 'video')
  const obstacles = (['video', 'audio'] as const).flatMap((kind): Shortcoming[] => {
    const ofKind = (track: RtspTrack): boolean => track.kind === kind
    const track = pulled.find(ofKind) ?? (refused.length > 0 && kind === 'audio' ? undefined : described.find(ofKind))
    if (track === undefined) return []
    const { way, reason } = codecSupportOf(track, abilities)
    const lack = lackInRecordings(track, picture, abilities)
    const facts = {
      kind,
      detail: codecName(track).slice(0, shortcomingDetail),
      recorded: pulled.includes(track) && lack === undefined,
    }
    if (reason !== null && (way === 'needs_ffmpeg' || way === 'none')) return [{ ...facts, way, reason }]
    return lack === undefined ? [] : [{ ...facts, way: 'not_recorded', reason: lack }]
  })
  return [...obstacles, ...refused]
}

/**
 * Returns the shortcoming for an H.264 obstacle that the description did not show.
 * @param way `needs_ffmpeg` if ffmpeg could convert the track
 */
export function lateShortcoming(reason: TrackReason, way: 'needs_ffmpeg' | 'none'): Shortcoming {
  return { kind: 'video', way, reason, detail: codecName({ codec: 'H264' }), recorded: true }
}

/** Returns the shortcoming for sound that is recorded only in converted form, while no conversion is available. */
export function unconvertedSound(track: RtspTrack): Shortcoming {
  const reason = codecSupportOf(track).reason ?? 'audio_other'
  return { kind: 'audio', way: 'not_recorded', reason, detail: codecName(track), recorded: false }
}

/** Whether the handling of any track depends on this machine's conversion abilities. */
export function needAbilities(tracks: readonly RtspTrack[]): boolean {
  const formats = tracks.flatMap((track) => [track, ...(track.alternatives ?? [])])
  return formats.some((track) => codecSupportOf(track).way === 'needs_ffmpeg')
}

/** Maximum number of tracks set up per camera. */
const maxSetUp = 4

/**
 * Returns the wanted tracks and the tracks that they depend on, in the order of the description. Some servers send no
 * sound unless all videos are set up. Packets of unwanted tracks are dropped.
 */
export function tracksToSetUp(tracks: readonly RtspTrack[], wanted: readonly RtspTrack[]): readonly RtspTrack[] {
  const hasSound = wanted.some(({ kind }) => kind === 'audio')
  const needed = receivedTracks(tracks).filter(
    (track) => wanted.includes(track) || (hasSound && track.kind === 'video'),
  )
  return needed.length > maxSetUp ? wanted : needed
}

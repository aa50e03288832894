import { z } from 'zod'

/** Number of running transcoders, and their maximum. */
const use = z.strictObject({ used: z.int(), limit: z.int() })

/** Transcoding capacity of a media node, with the ffmpeg of its machine. */
export const transcodingStatus = z.strictObject({
  /** missing: no ffmpeg; incomplete: it lacks an encoder for H.264 or Opus; off: disabled by the setting. */
  state: z.enum(['ready', 'incomplete', 'missing', 'off']),
  /** Version of ffmpeg; empty: none. */
  version: z.string(),
  /** Reason why a configured one is unusable; otherwise empty. */
  problem: z.string(),
  /** Command that installs it on that machine. */
  install: z.string(),
  /** Cameras whose pictures are transcoded, with or without sound. */
  pictures: use,
  /** Cameras of which only the sound is transcoded. */
  sound: use,
})
export type TranscodingStatus = z.output<typeof transcodingStatus>

/** Path of a camera's track to browsers: unchanged; transcoded; not, because ffmpeg is missing; not at all. */
export const trackWays = ['direct', 'converted', 'needs_ffmpeg', 'none'] as const
export type TrackWay = (typeof trackWays)[number]

/** Reasons why some browsers cannot play a track unchanged. */
export const trackReasons = [
  /** H.264: decoding order differs from display order; more than 8 bits; chroma other than 4:2:0; interlaced; another profile. */
  'b_frames',
  'bit_depth',
  'chroma',
  'interlaced',
  'profile',
  /** H.264 that stops sending IDR pictures: decoding has to start at recovery points, which browsers do not support. */
  'recovery_points',
  /** Packet order that browsers cannot restore; a clock rate that is out of range. */
  'interleaved',
  'clock',
  'h265',
  'jpeg',
  'mpeg4',
  'h263',
  'vp9',
  'av1',
  'h266',
  'h261',
  'theora',
  'mpeg_video',
  'mpeg_ts',
  'video_other',
  'aac',
  'g726',
  /** G.711 and G.722 with other rates or more channels than browsers support. */
  'rate',
  'l16',
  'mpeg_audio',
  'speex',
  'gsm',
  'g723',
  'g728',
  'g729',
  'vorbis',
  'audio_other',
  /** The camera refused to send the track. */
  'refused',
  /** Files with VP8 cannot contain other sound than Opus. */
  'webm',
] as const
export type TrackReason = (typeof trackReasons)[number]

/** Maximum length of the detail of a shortcoming. */
export const shortcomingDetail = 400

/**
 * needs_ffmpeg, none: see `trackWays`. refused: the camera does not send it. not_recorded: it is visible or audible,
 * but recordings lack it.
 */
const shortcomingWays = ['needs_ffmpeg', 'none', 'refused', 'not_recorded'] as const

/**
 * Part of a stream, its picture or its sound, that does not reach every browser and is not transcoded, or that is not
 * recorded.
 */
export const shortcoming = z.strictObject({
  kind: z.enum(['video', 'audio']),
  way: z.enum(shortcomingWays),
  reason: z.enum(trackReasons),
  /** Codec, or the camera's response with its request. */
  detail: z.string().max(shortcomingDetail),
  /** Whether recordings contain it nevertheless. */
  recorded: z.boolean(),
})
export type Shortcoming = z.output<typeof shortcoming>

/** idle: no viewers; waiting: every transcoder is in use; failed: ffmpeg exited, and is being restarted. */
const conversionStates = ['idle', 'starting', 'running', 'waiting', 'failed'] as const
export type ConversionState = (typeof conversionStates)[number]

export const streamConversion = z.strictObject({
  /** Codecs of the camera, e.g. `H.265, AAC`. */
  from: z.string(),
  state: z.enum(conversionStates),
  /** Reason of the last failure; empty: none. */
  problem: z.string(),
})

import { z } from 'zod'

/** Number of running transcoders, and their maximum. */
const use = z.strictObject({ used: z.int(), limit: z.int() })

/** Transcoding capacity of a media node, which uses the ffmpeg of its machine. */
export const transcodingStatus = z.strictObject({
  /**
   * State of transcoding. missing: no ffmpeg; incomplete: ffmpeg lacks an encoder for H.264 or Opus; off: disabled by
   * the setting.
   */
  state: z.enum(['ready', 'incomplete', 'missing', 'off']),
  /** Version of ffmpeg; empty: none. */
  version: z.string(),
  /** Reason why a configured ffmpeg is unusable; empty: none. */
  problem: z.string(),
  /** Command that installs ffmpeg on the node's machine. */
  install: z.string(),
  /** Transcoders for cameras whose pictures are transcoded, with or without sound. */
  pictures: use,
  /** Transcoders for cameras of which only the sound is transcoded. */
  sound: use,
})
export type TranscodingStatus = z.output<typeof transcodingStatus>

/** Ways in which browsers receive a camera's track: unchanged; transcoded; not at all without ffmpeg; not at all. */
export const trackWays = ['direct', 'converted', 'needs_ffmpeg', 'none'] as const
export type TrackWay = (typeof trackWays)[number]

/** Reasons why some browsers cannot play a track unchanged. */
export const trackReasons = [
  /**
   * Reasons for H.264: decoding order differs from display order; more than 8 bits; chroma other than 4:2:0;
   * interlaced; another profile.
   */
  'b_frames',
  'bit_depth',
  'chroma',
  'interlaced',
  'profile',
  /**
   * H.264 without IDR pictures after the start: decoding would have to start at recovery points, which browsers do not
   * support.
   */
  'recovery_points',
  /** A packet order that browsers cannot restore. `clock`: a clock rate out of range. */
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
  /** G.711 or G.722 with a rate or a number of channels that browsers do not support. */
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
  /** Sound other than Opus, which files with VP8 cannot contain. */
  'webm',
] as const
export type TrackReason = (typeof trackReasons)[number]

/** Maximum length of the detail of a shortcoming. */
export const shortcomingDetail = 400

/**
 * Consequence of a shortcoming. needs_ffmpeg, none: see `trackWays`. refused: the camera does not send the track.
 * not_recorded: the track is visible or audible, but recordings lack it.
 */
const shortcomingWays = ['needs_ffmpeg', 'none', 'refused', 'not_recorded'] as const

/** Limitation of a stream: its picture or its sound does not reach every browser, or is not recorded. */
export const shortcoming = z.strictObject({
  kind: z.enum(['video', 'audio']),
  way: z.enum(shortcomingWays),
  reason: z.enum(trackReasons),
  /** Codec, or the camera's response with its request. */
  detail: z.string().max(shortcomingDetail),
  /** Whether recordings contain the track nevertheless. */
  recorded: z.boolean(),
})
export type Shortcoming = z.output<typeof shortcoming>

/**
 * State of a transcoding. idle: no viewers; waiting: all transcoders are in use; failed: ffmpeg exited and is being
 * restarted.
 */
const conversionStates = ['idle', 'starting', 'running', 'waiting', 'failed'] as const
export type ConversionState = (typeof conversionStates)[number]

export const streamConversion = z.strictObject({
  /** Codecs sent by the camera, e.g. `H.265, AAC`. */
  from: z.string(),
  state: z.enum(conversionStates),
  /** Reason of the last failure; empty: none. */
  problem: z.string(),
})

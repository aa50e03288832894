import { z } from 'zod'

/** So many run, of so many that may. */
const use = z.strictObject({ used: z.int(), limit: z.int() })

/** Abilities of a media node to convert what browsers cannot play, with the ffmpeg of its machine. */
export const transcodingStatus = z.strictObject({
  /** missing: there is no ffmpeg; incomplete: it lacks an encoder of H.264 or Opus; off: the setting says so. */
  state: z.enum(['ready', 'incomplete', 'missing', 'off']),
  /** Version of ffmpeg; empty when there is none. */
  version: z.string(),
  /** Why it cannot be used although it was set; else empty. */
  problem: z.string(),
  /** How it is installed on that machine. */
  install: z.string(),
  /** Cameras whose pictures are made, with their sound or without. */
  pictures: use,
  /** Cameras of which the sound alone is made. */
  sound: use,
})
export type TranscodingStatus = z.output<typeof transcodingStatus>

/** How a track of a camera comes to a browser: as it is; made playable; it would be if ffmpeg were there; not at all. */
export const trackWays = ['direct', 'converted', 'needs_ffmpeg', 'none'] as const
export type TrackWay = (typeof trackWays)[number]

/** Why a track does not go to every browser as it is. */
export const trackReasons = [
  /** H.264: pictures in another order than they are shown in; more than 8 bits; colour in another resolution than 4:2:0; interlaced; another profile. */
  'b_frames',
  'bit_depth',
  'chroma',
  'interlaced',
  'profile',
  /** Packets in an order that browsers cannot undo; a clock that is not that of pictures. */
  'interleaved',
  'clock',
  'h265',
  'jpeg',
  'mpeg4',
  'h263',
  'video_other',
  'aac',
  'g726',
  /** G.711 and G.722 with other rates or more channels than browsers take. */
  'rate',
  'audio_other',
] as const
export type TrackReason = (typeof trackReasons)[number]

/** Part of a camera that does not reach every browser and is not converted: its picture, or its sound. */
export const shortcoming = z.strictObject({
  kind: z.enum(['video', 'audio']),
  way: z.enum(['needs_ffmpeg', 'none']),
  reason: z.enum(trackReasons),
})
export type Shortcoming = z.output<typeof shortcoming>

/** idle: nobody watches; waiting: every transcoder is in use; failed: ffmpeg ended by itself, and is started again. */
const conversionStates = ['idle', 'starting', 'running', 'waiting', 'failed'] as const
export type ConversionState = (typeof conversionStates)[number]

/** How a camera's media is made playable. */
export const streamConversion = z.strictObject({
  /** Codecs of the camera, e.g. `H.265, AAC`. */
  from: z.string(),
  state: z.enum(conversionStates),
  /** Why it failed last; empty when it did not. */
  problem: z.string(),
})

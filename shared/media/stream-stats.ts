import { z } from 'zod'
import { shortcoming, streamConversion } from './transcoding.ts'

/** Totals of a stream since it began; the reader makes rates of two readings. */
export const streamStats = z.strictObject({
  room_id: z.string(),
  stream_id: z.string(),
  user_id: z.string(),
  /** Empty for none. */
  video_codec: z.string(),
  audio_codec: z.string(),
  /** Whether what it carries is counted: not in rooms on Janus servers, whose media goes by no program of ours. The numbers are 0 then. */
  counted: z.boolean(),
  video_bytes: z.number(),
  audio_bytes: z.number(),
  frames: z.number(),
  key_frames: z.number(),
  /** Milliseconds since the epoch; 0 for none. */
  last_key_frame_at: z.number(),
  last_packet_at: z.number(),
  viewers: z.int(),
  /** Its pictures come in another order than they are shown in (B-frames): browsers show few of them. */
  b_frames: z.boolean(),
  /** null: everything goes on as it comes. */
  conversion: streamConversion.nullable(),
  /** Shortcomings of a camera; empty where everything it sends reaches every browser. */
  shortcomings: z.array(shortcoming),
})
export type StreamStats = z.output<typeof streamStats>

/** The newest picture of a camera that can be decoded by itself. */
export const keyPicture = z.strictObject({
  /** H.264 Annex B with its parameter sets, each NAL unit behind a start code of four bytes; base64. */
  frame: z.base64(),
  /** In pixels. */
  width: z.int().min(1),
  height: z.int().min(1),
  /** When it came, milliseconds since the epoch. */
  at: z.number(),
})

/** How somebody is connected. */
export const connectionStats = z.strictObject({
  room_id: z.string(),
  user_id: z.string(),
  /** The signalling connection is up. */
  signal: z.boolean(),
  /** Loudness as the sound itself tells it (RFC 6464). */
  speaking: z.boolean(),
  /** State of each connection that carries media to or from this person. */
  peers: z.array(
    z.strictObject({
      purpose: z.enum(['publish', 'view']),
      stream_id: z.string(),
      state: z.string(),
      round_trip_ms: z.number(),
    }),
  ),
})
export type ConnectionStats = z.output<typeof connectionStats>

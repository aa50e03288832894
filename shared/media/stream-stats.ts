import { z } from 'zod'
import { shortcoming, streamConversion } from './transcoding.ts'

/** Totals of a stream since its start; two readings result in rates. */
export const streamStats = z.strictObject({
  room_id: z.string(),
  stream_id: z.string(),
  user_id: z.string(),
  /** Empty: none. */
  video_codec: z.string(),
  audio_codec: z.string(),
  /**
   * Whether the traffic is counted. It is not in rooms on Janus servers, whose media does not pass through this
   * program; then all numbers are 0.
   */
  counted: z.boolean(),
  video_bytes: z.number(),
  audio_bytes: z.number(),
  frames: z.number(),
  key_frames: z.number(),
  /** In milliseconds since the epoch; 0: none. */
  last_key_frame_at: z.number(),
  last_packet_at: z.number(),
  viewers: z.int(),
  /**
   * Whether the decoding order of its pictures differs from the display order (B-frames): browsers show only few of
   * them.
   */
  b_frames: z.boolean(),
  /** null: it is forwarded unchanged. */
  conversion: streamConversion.nullable(),
  /** Limitations of a stream; empty if everything that its source sends reaches every browser and is recorded. */
  shortcomings: z.array(shortcoming),
})
export type StreamStats = z.output<typeof streamStats>

/** Latest picture of a camera that can be decoded on its own. */
export const keyPicture = z.strictObject({
  /** H.264 Annex B with its parameter sets, each NAL unit after a start code of four bytes; base64. */
  frame: z.base64(),
  /** In pixels. */
  width: z.int().min(1),
  height: z.int().min(1),
  /** Time of arrival, in milliseconds since the epoch. */
  at: z.number(),
})
export type SentKeyPicture = z.output<typeof keyPicture>

export const connectionStats = z.strictObject({
  room_id: z.string(),
  user_id: z.string(),
  /** Whether the signalling connection is open. */
  signal: z.boolean(),
  /** Whether the user is speaking, according to the audio level (RFC 6464). */
  speaking: z.boolean(),
  /** State of the user's microphone and camera. */
  audio: z.boolean(),
  video: z.boolean(),
  /** State of each media connection of this user. */
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

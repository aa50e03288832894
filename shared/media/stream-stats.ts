import { z } from 'zod'
import { shortcoming, streamConversion } from './transcoding.ts'

/** Totals of a stream since its start. Two readings give rates. */
export const streamStats = z.strictObject({
  room_id: z.string(),
  stream_id: z.string(),
  user_id: z.string(),
  /** Codec of the picture; empty: no picture. `audio_codec`: the same for the sound. */
  video_codec: z.string(),
  audio_codec: z.string(),
  /**
   * Whether the traffic is counted; false: all numbers are 0. In rooms on Janus servers it is not counted, because the
   * media does not pass through this program.
   */
  counted: z.boolean(),
  video_bytes: z.number(),
  audio_bytes: z.number(),
  frames: z.number(),
  key_frames: z.number(),
  /** Arrival of the last keyframe, in milliseconds since the epoch; 0: none. `last_packet_at`: of the last packet. */
  last_key_frame_at: z.number(),
  last_packet_at: z.number(),
  viewers: z.int(),
  /**
   * Whether the decoding order of the pictures differs from the display order (B-frames). Browsers show only a few of
   * such pictures.
   */
  b_frames: z.boolean(),
  /** State of the transcoding; null: the stream is forwarded unchanged. */
  conversion: streamConversion.nullable(),
  /** Limitations of the stream; empty: all its media reaches every browser and is recorded. */
  shortcomings: z.array(shortcoming),
})
export type StreamStats = z.output<typeof streamStats>

/** Keyframe: a picture of a camera that can be decoded on its own. */
export const keyPicture = z.strictObject({
  /** H.264 Annex B with parameter sets, as base64. Each NAL unit follows a start code of four bytes. */
  frame: z.base64(),
  /** Width in pixels. */
  width: z.int().min(1),
  height: z.int().min(1),
  /** Time of arrival, in milliseconds since the epoch. */
  at: z.number(),
})
export type SentKeyPicture = z.output<typeof keyPicture>

export const connectionStats = z.strictObject({
  room_id: z.string(),
  user_id: z.string(),
  /** Whether the signaling connection is open. */
  signal: z.boolean(),
  /** Whether the user is speaking, according to audio levels (RFC 6464). */
  speaking: z.boolean(),
  /** Whether the user's microphone is on; `video`: whether the camera is on. */
  audio: z.boolean(),
  video: z.boolean(),
  /** Media connections of this user, each with its state. */
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

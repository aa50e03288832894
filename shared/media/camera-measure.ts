import { z } from 'zod'

/** Measurements of a camera's stream in one interval. */
export const cameraMeasure = z.strictObject({
  /** End of the interval, in milliseconds since the epoch. */
  at: z.number(),
  /** Bits per second of picture and sound. */
  bitrate: z.number(),
  frame_rate: z.number(),
  /**
   * Mean interval between keyframes in milliseconds; null: none arrived, or the video is transcoded, so they are not
   * counted.
   */
  key_frame_ms: z.number().nullable(),
  /** Share of lost packets, 0 to 1. */
  loss: z.number(),
})
export type CameraMeasure = z.output<typeof cameraMeasure>

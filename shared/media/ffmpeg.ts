import { z } from 'zod'

/**
 * Messages with which the process of the embedded node requests runs of ffmpeg from the controller. That process cannot
 * start programs, and may be compromised. A run is therefore described only by numbers and switches, and each side
 * limits its unacknowledged data.
 */

/** Maximum number of data bytes per message; base64 adds a third. */
export const maxRunBytes = 48 * 1024
/** Maximum number of unacknowledged bytes per direction of a run. */
export const runWindow = 1024 * 1024
/** Number of received bytes after which an acknowledgment is sent. */
export const takenStep = 64 * 1024
/** Number of audio-only transcoders allowed per video transcoder. */
export const soundsForPicture = 8
/** Maximum delay from the first decoded picture to the first shown picture, in milliseconds. */
export const latestShownMs = 3_600_000

/**
 * Fraction of a timestamp that requests a keyframe, because a running ffmpeg accepts no other signal: a frame whose
 * timestamp ends in half a millisecond becomes a keyframe. All other timestamps are whole milliseconds; every two
 * seconds, one of these frames becomes a keyframe.
 */
export const keyFrameRequestMs = 0.5

/** Plan of one ffmpeg process with a Matroska input: outputs video, audio or both. */
const ffmpegPlanSchema = z
  .strictObject({
    video: z
      .strictObject({
        codec: z.enum(['H264', 'VP8']),
        shownFromMs: z.int().min(0).max(latestShownMs),
        interlaced: z.boolean(),
        /** Whether only one thumbnail is created. */
        still: z.boolean(),
      })
      .optional(),
    audio: z.boolean(),
  })
  .refine(({ video, audio }) => audio || video !== undefined, 'it makes nothing')
export type FfmpegPlan = z.output<typeof ffmpegPlanSchema>

/** Capabilities of the ffmpeg on the controller's machine. */
const ffmpegAbilitiesSchema = z.strictObject({
  /** Version of ffmpeg, e.g. `5.1.9-0+deb12u1`. */
  version: z.string().max(64),
  /** Whether ffmpeg encodes H.264. */
  pictures: z.boolean(),
  /** Whether ffmpeg encodes VP8. */
  vp8: z.boolean(),
  /** Whether ffmpeg encodes Opus. */
  sound: z.boolean(),
})
export type FfmpegAbilities = z.output<typeof ffmpegAbilitiesSchema>

const id = z.int().min(1)
const base64 = z.string().max(Math.ceil(maxRunBytes / 3) * 4)
const count = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

/** Messages from the node to the controller. The id of each run is higher than all previous ids. */
export const ffmpegAskSchema = z.discriminatedUnion('ask', [
  /** Requests the available ffmpeg. `program` follows. */
  z.strictObject({ ask: z.literal('look'), id }),
  z.strictObject({ ask: z.literal('start'), run: id, plan: ffmpegPlanSchema }),
  z.strictObject({ ask: z.literal('write'), run: id, bytes: base64 }),
  /** Ends the input, so that ffmpeg exits on its own. */
  z.strictObject({ ask: z.literal('finish'), run: id }),
  /** Ends the run immediately. No further messages about this run follow. */
  z.strictObject({ ask: z.literal('end'), run: id }),
  /** Acknowledges this many bytes of the run's output. */
  z.strictObject({ ask: z.literal('taken'), run: id, bytes: count }),
])
export type FfmpegAsk = z.output<typeof ffmpegAskSchema>

/** Output of a run. Pictures: H.264 as FLV, or VP8 as IVF; sound: Matroska. */
export type RunOutput = 'pictures' | 'sound'

/** Messages from the controller to the node. */
export const ffmpegTellSchema = z.discriminatedUnion('tell', [
  z.strictObject({
    tell: z.literal('program'),
    id,
    /** Available ffmpeg; null: none is usable. */
    program: ffmpegAbilitiesSchema.nullable(),
    /** Reason why an existing or configured ffmpeg is unusable; empty: none. */
    problem: z.string(),
  }),
  z.strictObject({ tell: z.literal('made'), run: id, output: z.enum(['pictures', 'sound']), bytes: base64 }),
  /** Acknowledges this many bytes of the run's input. */
  z.strictObject({ tell: z.literal('taken'), run: id, bytes: count }),
  /**
   * ffmpeg exited, or could not be started. `complaint`: last lines of its output. No further messages about this run
   * follow.
   */
  z.strictObject({ tell: z.literal('ended'), run: id, why: z.string(), complaint: z.string() }),
])
export type FfmpegTell = z.output<typeof ffmpegTellSchema>

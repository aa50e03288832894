import { z } from 'zod'

/**
 * Messages with which the process of the embedded node requests runs of ffmpeg from its controller: it cannot start
 * programs itself, and may be compromised. A run is therefore described only by numbers and switches, and neither side
 * sends more than the other has acknowledged.
 */

/** Maximum size of a message in bytes; base64 adds a third. */
export const maxRunBytes = 48 * 1024
/** Maximum number of unacknowledged bytes per direction of a run. */
export const runWindow = 1024 * 1024
/** Number of received bytes after which an acknowledgement is sent. */
export const takenStep = 64 * 1024
/** Number of sound-only transcoders per transcoder of pictures. */
export const soundsForPicture = 8
/** Maximum delay from the first decoded picture to the first shown, in milliseconds. */
export const latestShownMs = 3_600_000

/**
 * A frame whose timestamp ends in half a millisecond becomes a key frame, because a running ffmpeg accepts no other
 * signal. All other timestamps are whole milliseconds; of these, one becomes a key frame every two seconds.
 */
export const keyFrameRequestMs = 0.5

/** Output of one ffmpeg process for a Matroska input: picture, sound or both. */
const ffmpegPlanSchema = z
  .strictObject({
    video: z
      .strictObject({
        codec: z.enum(['H264', 'VP8']),
        shownFromMs: z.int().min(0).max(latestShownMs),
        interlaced: z.boolean(),
        /** Whether only one thumbnail is made. */
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
  /** Whether it encodes H.264. */
  pictures: z.boolean(),
  /** Whether it encodes VP8. */
  vp8: z.boolean(),
  /** Whether it encodes Opus. */
  sound: z.boolean(),
})
export type FfmpegAbilities = z.output<typeof ffmpegAbilitiesSchema>

const id = z.int().min(1)
const base64 = z.string().max(Math.ceil(maxRunBytes / 3) * 4)
const count = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

/** Messages from node to controller. Each run has a higher number than all previous ones. */
export const ffmpegAskSchema = z.discriminatedUnion('ask', [
  /** Asks for the available ffmpeg: `program` follows. */
  z.strictObject({ ask: z.literal('look'), id }),
  z.strictObject({ ask: z.literal('start'), run: id, plan: ffmpegPlanSchema }),
  z.strictObject({ ask: z.literal('write'), run: id, bytes: base64 }),
  /** End of the input: ffmpeg exits on its own. */
  z.strictObject({ ask: z.literal('finish'), run: id }),
  /** Ends it immediately; no further messages about this run follow. */
  z.strictObject({ ask: z.literal('end'), run: id }),
  /** Acknowledges this many bytes of its output. */
  z.strictObject({ ask: z.literal('taken'), run: id, bytes: count }),
])
export type FfmpegAsk = z.output<typeof ffmpegAskSchema>

/** Output of a run: H.264 as FLV, VP8 as IVF, sound as Matroska. */
export type RunOutput = 'pictures' | 'sound'

/** Messages from controller to node. */
export const ffmpegTellSchema = z.discriminatedUnion('tell', [
  z.strictObject({
    tell: z.literal('program'),
    id,
    /** null: no usable ffmpeg. */
    program: ffmpegAbilitiesSchema.nullable(),
    /** Reason why an existing or configured one is unusable; otherwise empty. */
    problem: z.string(),
  }),
  z.strictObject({ tell: z.literal('made'), run: id, output: z.enum(['pictures', 'sound']), bytes: base64 }),
  /** Acknowledges this many bytes of its input. */
  z.strictObject({ tell: z.literal('taken'), run: id, bytes: count }),
  /** It exited, or could not start; `complaint`: its last output. No further messages about this run follow. */
  z.strictObject({ tell: z.literal('ended'), run: id, why: z.string(), complaint: z.string() }),
])
export type FfmpegTell = z.output<typeof ffmpegTellSchema>

import { z } from 'zod'

/**
 * Messages by which the process of the embedded node has its controller run ffmpeg: it may start no program itself, and may be somebody else's by now. So a run is
 * described by numbers and switches alone, and neither side sends more than the other one has said it took.
 */

/** Bytes of a message at most. Base64 makes a third more of them. */
export const maxRunBytes = 48 * 1024
/** Bytes that one side of a run may have sent and the other one has not said to have taken, each way. */
export const runWindow = 1024 * 1024
/** Bytes taken until they are acknowledged. */
export const takenStep = 64 * 1024
/** So many transcoders of sound alone for one of pictures. */
export const soundsForPicture = 8
/** The first picture that is shown comes so long after the first that is decoded, at most; milliseconds. */
export const latestShownMs = 3_600_000

/**
 * A frame whose time ends in a half millisecond is made a key frame: nothing else that a running ffmpeg can be told. All others have whole milliseconds, and
 * these are key frames every two seconds.
 */
export const keyFrameWishMs = 0.5

/** Output of one ffmpeg from the Matroska that it is given: picture, sound or both. */
const ffmpegPlanSchema = z
  .strictObject({
    video: z
      .strictObject({
        shownFromMs: z.int().min(0).max(latestShownMs),
        interlaced: z.boolean(),
        /** One small picture, and no more. */
        still: z.boolean(),
      })
      .optional(),
    audio: z.boolean(),
  })
  .refine(({ video, audio }) => audio || video !== undefined, 'it makes nothing')
export type FfmpegPlan = z.output<typeof ffmpegPlanSchema>

/** Abilities of the ffmpeg on the controller's machine. */
const ffmpegAbilitiesSchema = z.strictObject({
  /** As it names it, e.g. `5.1.9-0+deb12u1`. */
  version: z.string().max(64),
  /** It makes H.264. */
  pictures: z.boolean(),
  /** It makes Opus. */
  sound: z.boolean(),
})
export type FfmpegAbilities = z.output<typeof ffmpegAbilitiesSchema>

const id = z.int().min(1)
const base64 = z.string().max(Math.ceil(maxRunBytes / 3) * 4)
const count = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

/** Node to controller. A run has a number higher than all before it. */
export const ffmpegAskSchema = z.discriminatedUnion('ask', [
  /** Which ffmpeg there is: `program` follows. */
  z.strictObject({ ask: z.literal('look'), id }),
  z.strictObject({ ask: z.literal('start'), run: id, plan: ffmpegPlanSchema }),
  z.strictObject({ ask: z.literal('write'), run: id, bytes: base64 }),
  /** Nothing more is written: it ends by itself. */
  z.strictObject({ ask: z.literal('finish'), run: id }),
  /** It ends at once: nothing more is told of it. */
  z.strictObject({ ask: z.literal('end'), run: id }),
  /** So many bytes of what it made. */
  z.strictObject({ ask: z.literal('taken'), run: id, bytes: count }),
])
export type FfmpegAsk = z.output<typeof ffmpegAskSchema>

/** Output of a run: pictures as FLV, sound as Matroska. */
export type RunOutput = 'pictures' | 'sound'

/** Controller to node. */
export const ffmpegTellSchema = z.discriminatedUnion('tell', [
  z.strictObject({
    tell: z.literal('program'),
    id,
    /** null: there is none that can be used. */
    program: ffmpegAbilitiesSchema.nullable(),
    /** Why not, although it was set or is there; else empty. */
    problem: z.string(),
  }),
  z.strictObject({ tell: z.literal('made'), run: id, output: z.enum(['pictures', 'sound']), bytes: base64 }),
  /** So many bytes of what was written to it. */
  z.strictObject({ tell: z.literal('taken'), run: id, bytes: count }),
  /** It ended by itself, or could not be started; `complaint`: its last words. Nothing comes after it. */
  z.strictObject({ tell: z.literal('ended'), run: id, why: z.string(), complaint: z.string() }),
])
export type FfmpegTell = z.output<typeof ffmpegTellSchema>

import { z } from 'zod'
import { streamSources } from '../media/stream-source.ts'
import { shortcoming } from '../media/transcoding.ts'

/** Streams of a camera that can be recorded: its main stream, or its smaller one. Of people, `main` is their largest layer. */
export const recordedQualities = ['main', 'substream'] as const
export type RecordedQuality = (typeof recordedQualities)[number]

/** Containers of segments: fragmented MP4 for H.264, H.265 and sound alone; WebM for VP8. */
export const segmentContainers = ['mp4', 'webm'] as const

/** Length of a segment in milliseconds; it ends at the first key frame after that. */
export const segmentMs = 60_000

/**
 * Reasons why a segment ended. length: its minute is over. format: another codec, size or parameter set. track: picture or sound began or ended. clock: a clock
 * jumped. left: the stream is gone. stopped: it is not to be recorded any more. silent: no packet came for a while. diskFull, failed: it could not be written. cut: the process or the
 * machine ended, and the file was repaired at the next start.
 */
export const segmentEnds = [
  'length',
  'format',
  'track',
  'clock',
  'left',
  'stopped',
  'silent',
  'diskFull',
  'failed',
  'cut',
] as const
export type SegmentEnd = (typeof segmentEnds)[number]

/**
 * Reasons why nothing is recorded of a stream that is to be recorded. away: the camera or person is not in the room. paused: the operator paused the camera. silent: no media
 * comes. noKeyFrame: no key frame came yet. codec: it cannot be recorded. diskFull, failed: it could not be written. nodeAway: the node, or the controller, was away or restarted.
 * storageLow: recording stops before the disk is full.
 */
export const gapReasons = [
  'away',
  'paused',
  'silent',
  'noKeyFrame',
  'codec',
  'diskFull',
  'failed',
  'nodeAway',
  'storageLow',
] as const
export type GapReason = (typeof gapReasons)[number]

const id = z.string().min(1).max(128)
/** Last moment that a date of JavaScript can be (ECMA-262, section 21.4.1.1). */
const lastMoment = 8.64e15
/** Milliseconds since the epoch. */
export const momentSchema = z.number().min(0).max(lastMoment)

/** Stream that a recording belongs to. */
export const recordedStreamSchema = z.strictObject({
  roomId: id,
  userId: id,
  source: z.enum(streamSources),
  quality: z.enum(recordedQualities),
})
export type RecordedStream = z.output<typeof recordedStreamSchema>

/** Facts of a segment that are known when it begins; the file carries them too, as its metadata. They hold no path: it follows from them (`segmentPath`). */
const segmentFactsSchema = recordedStreamSchema.extend({
  container: z.enum(segmentContainers),
  userName: z.string().max(256),
  topic: z.string().max(600),
  /** An outgoing user (camera), rather than a person. */
  device: z.boolean(),
  /** Moment of its first picture or sound by the node's clock, in milliseconds since the epoch. */
  startedAt: momentSchema,
  /** The same moment by the sender's clock (RTCP sender reports, RFC 3550 section 6.4.1); null: the sender reports none. */
  senderStartedAt: momentSchema.nullable(),
  /** RFC 6381 codec strings, as `avc1.64001f`; empty: none. */
  videoCodec: z.string().max(64),
  audioCodec: z.string().max(64),
  /** Pixels; 0: no picture, or unknown. */
  width: z.int().min(0),
  height: z.int().min(0),
  /** Tracks of the source that it does not hold, with the reason; left out: none. */
  lacks: z.array(shortcoming).min(1).max(8).optional(),
})
/** Facts that an earlier program wrote into a file or the index: some hold a path, which is not believed. */
export const storedFactsSchema = z.object(segmentFactsSchema.shape)
export type SegmentFacts = z.output<typeof segmentFactsSchema>

/** A segment with its path below the recordings folder, with `/`. */
export interface SegmentStart extends SegmentFacts {
  file: string
}

/** Facts of a complete segment. */
const endedFactsSchema = segmentFactsSchema.extend({
  /** Moment of its end by the node's clock: start plus media time. */
  endedAt: momentSchema,
  bytes: z.int().min(0),
  end: z.enum(segmentEnds),
})
export type EndedFacts = z.output<typeof endedFactsSchema>

/** A complete segment. */
export interface Segment extends SegmentStart, Pick<EndedFacts, 'endedAt' | 'bytes' | 'end'> {}

/** A span in which nothing was recorded of a stream that was to be recorded. */
const gapSchema = recordedStreamSchema.extend({
  from: momentSchema,
  /** null: it lasts. */
  to: momentSchema.nullable(),
  reason: z.enum(gapReasons),
})
export type Gap = z.output<typeof gapSchema>

/** Streams of a room that a node records; each order replaces the one before for that room. A node without one records nothing. */
export const recordingOrderSchema = z.strictObject({
  roomId: id,
  /** Every stream of the room, those that come later too. People in the room are notified while this is set, or one of `people` is. */
  everything: z.boolean(),
  /** Cameras, recorded whether `everything` is set or not. */
  cameras: z.array(z.strictObject({ userId: id, quality: z.enum(recordedQualities) })).max(1_000),
  /** People recorded by themselves. */
  people: z.array(id).max(1_000),
})
export type RecordingOrder = z.output<typeof recordingOrderSchema>

/** Events of a node's recorder, in order for each stream. */
export const recorderEventSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('segmentBegan'), segment: segmentFactsSchema }),
  z.strictObject({ type: z.literal('segmentEnded'), segment: endedFactsSchema }),
  /** Nothing is recorded from now on; the next `segmentBegan` of the stream ends it. */
  z.strictObject({ type: z.literal('recordingGap'), gap: gapSchema }),
  /** Age of the oldest media that is not safely on the disk, in milliseconds, once a second while the disk is late; 0: it keeps up again. */
  z.strictObject({ type: z.literal('diskLate'), ms: z.number().min(0) }),
])
export type RecorderEvent = z.output<typeof recorderEventSchema>

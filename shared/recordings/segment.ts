import { z } from 'zod'
import { streamSources } from '../media/stream-source.ts'
import { shortcoming } from '../media/transcoding.ts'

/**
 * Streams of a camera that can be recorded: its main stream, or its smaller one. For people, `main` is their largest
 * layer.
 */
export const recordedQualities = ['main', 'substream'] as const
export type RecordedQuality = (typeof recordedQualities)[number]

/** Containers of segments: fragmented MP4 for H.264, H.265 and sound alone; WebM for VP8. */
export const segmentContainers = ['mp4', 'webm'] as const

/** Minimum length of a segment in milliseconds; it ends at the next key frame. */
export const segmentMs = 60_000

/** Reasons of the end of a segment, with the file that decides on each. */
export const segmentEnds = [
  /** A minute has passed, or the group of pictures is too large for memory (segmenter.ts). */
  'length',
  /** Codec, size, parameter sets or the layer of a person's picture changed (segmenter.ts, recorded-stream.ts). */
  'format',
  /** Picture or sound began or ended, or a host muted the picture (segmenter.ts, track-input.ts). */
  'track',
  /** The clock of the stream or of this machine jumped (segmenter.ts, recorded-stream.ts). */
  'clock',
  /** The stream ended (recorder.ts). */
  'left',
  /** The order no longer contains the stream (recorder.ts). */
  'stopped',
  /** No packet arrived for some seconds (segmenter.ts). */
  'silent',
  /** The file could not be written (stream-files.ts, recording-disk.ts). */
  'diskFull',
  'failed',
  /** Process or machine stopped; the controller repaired the file at the next start (recorded-files.ts). */
  'cut',
] as const
export type SegmentEnd = (typeof segmentEnds)[number]

/**
 * Reasons why a stream that should be recorded is not. away: the camera or person is not in the room. paused: the
 * operator paused the camera. silent: no media arrives. noKeyFrame: no key frame has arrived yet. codec: it cannot be
 * recorded. diskFull, failed: it could not be written. nodeAway: the node, or the controller, was offline or restarted.
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
/** Latest time that a Date can represent (ECMA-262, section 21.4.1.1). */
const lastMoment = 8.64e15
/** Milliseconds since the epoch. */
export const momentSchema = z.number().min(0).max(lastMoment)

/** Stream to which a recording belongs. */
export const recordedStreamSchema = z.strictObject({
  roomId: id,
  userId: id,
  source: z.enum(streamSources),
  quality: z.enum(recordedQualities),
})
export type RecordedStream = z.output<typeof recordedStreamSchema>

/**
 * Metadata of a segment known at its begin; its file contains it, too. It contains no path, which is computed from it
 * (`segmentPath`).
 */
const segmentFactsSchema = recordedStreamSchema.extend({
  container: z.enum(segmentContainers),
  userName: z.string().max(256),
  topic: z.string().max(600),
  /** Whether the user is a device and not a person. */
  device: z.boolean(),
  /** Time of its first picture or sound by the node's clock, in milliseconds since the epoch. */
  startedAt: momentSchema,
  /**
   * The same time by the sender's clock (RTCP sender reports, RFC 3550 section 6.4.1); null: the sender reports none.
   */
  senderStartedAt: momentSchema.nullable(),
  /** RFC 6381 codec strings, e.g. `avc1.64001f`; empty: none. */
  videoCodec: z.string().max(64),
  audioCodec: z.string().max(64),
  /** In pixels; 0: no picture, or unknown. */
  width: z.int().min(0),
  height: z.int().min(0),
  /** Missing tracks of the source, with the reason; undefined: none. */
  lacks: z.array(shortcoming).min(1).max(8).optional(),
})
/** Metadata that an earlier program wrote into a file or the index. It may contain a path, which is ignored. */
export const storedFactsSchema = z.object(segmentFactsSchema.shape)
export type SegmentFacts = z.output<typeof segmentFactsSchema>

/** Segment with its path below the recordings folder, with `/`. */
export interface SegmentStart extends SegmentFacts {
  file: string
}

/** Metadata of a complete segment. */
const endedFactsSchema = segmentFactsSchema.extend({
  /** Time of its end by the node's clock: start plus media time. */
  endedAt: momentSchema,
  bytes: z.int().min(0),
  end: z.enum(segmentEnds),
})
export type EndedFacts = z.output<typeof endedFactsSchema>

export interface Segment extends SegmentStart, Pick<EndedFacts, 'endedAt' | 'bytes' | 'end'> {}

/** Span in which a stream that should have been recorded was not. */
const gapSchema = recordedStreamSchema.extend({
  from: momentSchema,
  /** null: it continues. */
  to: momentSchema.nullable(),
  reason: z.enum(gapReasons),
})
export type Gap = z.output<typeof gapSchema>

/**
 * Streams of a room that a node should record; each order replaces the previous one for that room. Without an order,
 * nothing is recorded.
 */
export const recordingOrderSchema = z.strictObject({
  roomId: id,
  /**
   * Whether every stream of the room is recorded, including later ones. People in the room are notified while this is
   * set, or while there are `people`.
   */
  everything: z.boolean(),
  /** Cameras, recorded regardless of `everything`. */
  cameras: z.array(z.strictObject({ userId: id, quality: z.enum(recordedQualities) })).max(1_000),
  /** People recorded individually. */
  people: z.array(id).max(1_000),
})
export type RecordingOrder = z.output<typeof recordingOrderSchema>

/** Events of a node's recorder, in order for each stream. */
export const recorderEventSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('segmentBegan'), segment: segmentFactsSchema }),
  z.strictObject({ type: z.literal('segmentEnded'), segment: endedFactsSchema }),
  /** Nothing is recorded from now on; the next `segmentBegan` of the stream ends the gap. */
  z.strictObject({ type: z.literal('recordingGap'), gap: gapSchema }),
  /**
   * Age of the oldest media not yet safely on the disk, in milliseconds. Sent once a second while the disk is too
   * slow; 0: it keeps up again.
   */
  z.strictObject({ type: z.literal('writeDelay'), ms: z.number().min(0) }),
])
export type RecorderEvent = z.output<typeof recorderEventSchema>

import { z } from 'zod'
import { deviceErrorKinds } from '../device.ts'
import { cameraMeasure } from '../media/camera-measure.ts'
import { keyPicture } from '../media/stream-stats.ts'
import { moment } from './outcome.ts'

/**
 * Span of time in which a camera was in one state. up: in its room; down: expected in its room but absent; unknown: the
 * controller was not running, or nothing is known yet.
 */
const cameraSpan = z.strictObject({
  state: z.enum(['up', 'down', 'paused', 'unknown']),
  /** Reason of `down`; null: another state. */
  kind: z.enum(deviceErrorKinds).nullable(),
  from: moment,
  to: moment,
})
export type CameraSpan = z.output<typeof cameraSpan>

/** The last 30 days of a camera, from the event log. */
export const cameraUptime = z.strictObject({
  from: moment,
  to: moment,
  /** Spans, oldest first, without gaps. */
  spans: z.array(cameraSpan),
  /**
   * Uptime in the last day as a share of the known time without pauses, 0 to 1; null: no such time. `month`: in 30
   * days.
   */
  day: z.number().nullable(),
  month: z.number().nullable(),
})
export type CameraUptime = z.output<typeof cameraUptime>

/** Measurements of the stream that the media node receives from a camera. */
export const cameraQuality = z.strictObject({
  /**
   * State of the measurement. measured: in progress; away: the camera is not in its room; remote: its media does not
   * pass through a process of this site (Janus, a simulated node).
   */
  state: z.enum(['measured', 'away', 'remote']),
  /** Measurements of the last seconds; null: none yet. */
  now: cameraMeasure.nullable(),
  /** Measurements of the last hour, one per minute, oldest first. */
  minutes: z.array(cameraMeasure),
})

/** Picture of a camera, which need not be in a room. */
export const cameraStill = z.strictObject({
  picture: keyPicture.nullable(),
  /**
   * Reason of a missing picture; null: none is missing. simulated: no node of this site can reach real cameras; codec:
   * browsers cannot show the picture and ffmpeg is missing; timeout: no keyframe arrived in time.
   */
  missing: z.enum(['simulated', 'codec', 'timeout', 'failed']).nullable(),
})

/** Result of changing the login of a camera. */
export const loginOutcome = z.strictObject({
  saved: z.boolean(),
  accepted: z.boolean(),
  /** Reason of a failed test; null: the test succeeded, or this site cannot test. */
  kind: z.enum(deviceErrorKinds).nullable(),
})
export type LoginOutcome = z.output<typeof loginOutcome>

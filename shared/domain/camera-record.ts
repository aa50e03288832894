import { z } from 'zod'
import { deviceErrorKinds } from '../device.ts'
import { cameraMeasure } from '../media/camera-measure.ts'
import { keyPicture } from '../media/stream-stats.ts'
import { moment } from './outcome.ts'

/**
 * up: in its room; down: expected but not in its room; unknown: the controller was not running, or nothing is known
 * yet.
 */
const cameraSpan = z.strictObject({
  state: z.enum(['up', 'down', 'paused', 'unknown']),
  /** Reason of `down`; null for other states. */
  kind: z.enum(deviceErrorKinds).nullable(),
  from: moment,
  to: moment,
})
export type CameraSpan = z.output<typeof cameraSpan>

/** The last 30 days of a camera, from the event log. */
export const cameraUptime = z.strictObject({
  from: moment,
  to: moment,
  /** Oldest first, without gaps. */
  spans: z.array(cameraSpan),
  /** Share of uptime in the known time without pauses, 0 to 1; null: no such time. */
  day: z.number().nullable(),
  month: z.number().nullable(),
})
export type CameraUptime = z.output<typeof cameraUptime>

/** Measurements of the stream that the media node receives from a camera. */
export const cameraQuality = z.strictObject({
  /**
   * away: the camera is not in its room; remote: its media does not pass through a process of this site (Janus, a
   * simulated node).
   */
  state: z.enum(['measured', 'away', 'remote']),
  /** The last seconds; null: none yet. */
  now: cameraMeasure.nullable(),
  /** The last hour in minutes, oldest first. */
  minutes: z.array(cameraMeasure),
})

/** Picture of a camera, which need not be in a room. */
export const cameraStill = z.strictObject({
  picture: keyPicture.nullable(),
  /**
   * Reason of a missing picture. simulated: no node here reaches real cameras; codec: browsers cannot show it and
   * ffmpeg is missing; timeout: no key frame arrived in time.
   */
  missing: z.enum(['simulated', 'codec', 'timeout', 'failed']).nullable(),
})

/** Result of a new login for one camera. */
export const loginOutcome = z.strictObject({
  saved: z.boolean(),
  accepted: z.boolean(),
  /** Reason of a failed test; null: it succeeded, or this site cannot test. */
  kind: z.enum(deviceErrorKinds).nullable(),
})
export type LoginOutcome = z.output<typeof loginOutcome>

import { z } from 'zod'
import { rule } from '../refusals/complaints.ts'
import { isZone } from '../schedule/zone.ts'
import { recordedQualities } from './segment.ts'

/**
 * Times at which a stream is recorded automatically. always: while the stream exists. occupied: while a person is in
 * the room. hours: during the hours of the rule.
 */
export const recordingTimes = ['never', 'always', 'occupied', 'hours'] as const

/** Weekly hours in a time zone. `to` before `from`: the hours span midnight; `to` equal to `from`: the whole day. */
const recordingHoursSchema = z.strictObject({
  /** Days of the week: 1 is Monday, 7 is Sunday. */
  days: z.array(z.int().min(1).max(7)).min(1).max(7),
  from: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/),
  to: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/),
  /** IANA time zone, e.g. `Europe/Berlin`. */
  zone: z
    .string()
    .max(64)
    .refine(isZone, { error: rule('timeZone') }),
})
export type RecordingHours = z.output<typeof recordingHoursSchema>

/** Limits beyond which the oldest recordings are deleted; 0: no limit. */
export const retentionSchema = z.strictObject({
  days: z.int().min(0).max(3_650),
  gigabytes: z.number().min(0).max(1_000_000),
})
export type Retention = z.output<typeof retentionSchema>

/** Rule of a room, for all of its streams, or of a camera. */
export const recordingRuleSchema = z.strictObject({
  when: z.enum(recordingTimes),
  /** Hours, if `when` is `hours`. */
  hours: z.array(recordingHoursSchema).max(14).optional(),
  /** Quality, for cameras only. */
  quality: z.enum(recordedQualities).optional(),
  /** Retention; undefined: the site's retention. */
  retention: retentionSchema.optional(),
})
export type RecordingRule = z.output<typeof recordingRuleSchema>

import { z } from 'zod'
import { recordingRuleSchema, retentionSchema } from './recording-rule.ts'

/** Recordings that viewers of the console may see. */
const recordingViewers = ['nothing', 'cameras', 'all'] as const
export type RecordingViewers = (typeof recordingViewers)[number]

/** Settings of recording for the site. */
export const recordingSettingsSchema = z.strictObject({
  /** Rule of rooms without one of their own. */
  rooms: recordingRuleSchema.default({ when: 'never' }),
  /** Rule of cameras without one of their own. */
  cameras: recordingRuleSchema.default({ when: 'never' }),
  /** Retention of rooms and cameras without one of their own. */
  retention: retentionSchema.default({ days: 14, gigabytes: 0 }),
  /** Size of all recordings, in gigabytes (10^9 bytes); the oldest are deleted. 0: no limit but free space. */
  gigabytes: z.number().min(0).max(1_000_000).default(0),
  /** Space that stays free on the disk: recording stops before. The larger of the two, in gigabytes and percent. */
  free_gigabytes: z.number().min(0.1).max(100_000).default(5),
  free_percent: z.number().min(0).max(90).default(5),
  /** Recordings that viewers may see; operators and admins see all. */
  viewers: z.enum(recordingViewers).default('cameras'),
  /** Hosts may start and stop the recording of their room. */
  hosts: z.boolean().default(false),
  /** Says aloud once in a room that it is recorded; the notice is shown in any case. */
  announce: z.boolean().default(true),
})
export type RecordingSettings = z.output<typeof recordingSettingsSchema>

import { z } from 'zod'
import { done, moment, nothing, procedure } from './procedure.ts'

/** One request that a listener answered. */
export const activityEntry = z.strictObject({
  /** Rises by one per request kept. */
  seq: z.int(),
  at: moment,
  api: z.enum(['media', 'device']),
  /** Name of the operation; empty for a path that does not exist. */
  operation: z.string(),
  method: z.string(),
  path: z.string(),
  ret: z.int(),
  /** Milliseconds from the request's head to the answer. */
  duration: z.number(),
  client: z.string(),
  /** access_key; empty when unknown. */
  credential: z.string(),
  /** room_id or roomId where the operation has one. */
  room: z.string(),
  /** Redacted. */
  params: z.record(z.string(), z.string()),
  /** msg of a failure. */
  msg: z.string(),
  /** For the operator only: why a digest or token was refused. */
  reason: z.string(),
})
export type ActivityEntry = z.output<typeof activityEntry>

const filter = z.strictObject({
  api: z.enum(['media', 'device']).optional(),
  operation: z.string().max(64).optional(),
  /** 'ok', 'failed', or one ret. */
  outcome: z.union([z.literal('ok'), z.literal('failed'), z.int()]).optional(),
  credential: z.string().max(128).optional(),
  room: z.string().max(128).optional(),
  client: z.string().max(64).optional(),
  /** In any text of the entry. */
  search: z.string().max(200).default(''),
})

export const activityProcedures = {
  'activity.list': procedure(
    'The newest requests kept that match, newest first.',
    filter.extend({ before: z.int().optional(), limit: z.int().min(1).max(500).default(200) }),
    z.strictObject({
      items: z.array(activityEntry),
      /** Entries kept now. */
      kept: z.int(),
      /** The bound. */
      capacity: z.int(),
      /** Successes left out of the journal since start because too many came at once. */
      skipped: z.int(),
    }),
  ),
  'activity.clear': procedure('Forget every entry.', nothing, done),
  'activity.export': procedure(
    'The entries that match as NDJSON, oldest first.',
    filter,
    z.strictObject({ text: z.string() }),
  ),
}

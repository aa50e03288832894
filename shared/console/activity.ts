import { z } from 'zod'
import { done, moment, nothing, procedure } from './procedure.ts'

/** The operation of an entry that is a person's visit: to the page that leads into rooms, a look at a room without a link, and the entry into a room that was not open yet or needs no link. */
export const visitNames = { joinPage: 'join_page', lookAtRoom: 'look_at_room', enterRoom: 'enter_room' } as const

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
  /** The answer as it went out, redacted, where it was made for clients of the original platform; else empty. */
  answer: z.string(),
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
  /** Only requests that took at least so many milliseconds. */
  slower_than: z.number().min(0).optional(),
  /** Only requests since then. */
  since: moment.optional(),
  /** In any text of the entry. */
  search: z.string().max(200).default(''),
})
/** Which entries are wanted; what is left out is not asked for. */
export type ActivityFilter = z.input<typeof filter>

/** The test of a filter: the controller and the console's page judge alike. */
export function activityMatcher(wanted: ActivityFilter): (entry: ActivityEntry) => boolean {
  const { api, operation, outcome, credential, room, client, slower_than = 0, since = 0 } = wanted
  const search = wanted.search?.trim().toLowerCase() ?? ''
  return (entry) =>
    (api === undefined || entry.api === api) &&
    (operation === undefined || entry.operation === operation) &&
    (outcome === undefined ||
      (outcome === 'ok' ? entry.ret === 0 : outcome === 'failed' ? entry.ret !== 0 : entry.ret === outcome)) &&
    (credential === undefined || entry.credential === credential) &&
    (room === undefined || entry.room === room) &&
    (client === undefined || entry.client === client) &&
    entry.duration >= slower_than &&
    entry.at >= since &&
    (search === '' || textOf(entry).includes(search))
}

/** Everything of an entry that a search looks at. */
function textOf(entry: ActivityEntry): string {
  const { api, operation, method, path, ret, client, credential, room, params, msg, reason, answer } = entry
  const texts = [api, operation, method, path, String(ret), client, credential, room, msg, reason, answer]
  for (const [name, value] of Object.entries(params)) texts.push(name, value)
  return texts.join('\n').toLowerCase()
}

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

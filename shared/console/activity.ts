import { z } from 'zod'
import { change, read } from './declare.ts'
import { done, moment, emptyOutcome } from '../domain/outcome.ts'
import { person, viewer } from './procedure-access.ts'
import { subject } from './procedure-events.ts'

/** Request answered by an API port. */
export const activityEntry = z.strictObject({
  /** Sequence number; increases by one per stored request. */
  seq: z.int(),
  at: moment,
  api: z.enum(['media', 'device']),
  /** Name of the operation; empty: the path is unknown. */
  operation: z.string(),
  method: z.string(),
  path: z.string(),
  ret: z.int(),
  /** Time from receiving the request's headers to the response, in milliseconds. */
  duration: z.number(),
  client: z.string(),
  /** access_key; empty: unknown. */
  credential: z.string(),
  /** room_id or roomId; empty: the operation has none. */
  room: z.string(),
  /** Parameters, with secrets redacted. */
  params: z.record(z.string(), z.string()),
  /** `msg` of the response; empty: success. */
  msg: z.string(),
  /** Reason why a digest or token was rejected, for the operator only. */
  reason: z.string(),
  /** Response as sent, with secrets redacted, for operations of the original platform; empty: other operations. */
  answer: z.string(),
})
export type ActivityEntry = z.output<typeof activityEntry>

const filter = z.strictObject({
  api: z.enum(['media', 'device']).optional(),
  operation: z.string().max(64).optional(),
  /** Result of the requests: 'ok', 'failed', or a specific `ret`. */
  outcome: z.union([z.literal('ok'), z.literal('failed'), z.int()]).optional(),
  credential: z.string().max(128).optional(),
  room: z.string().max(128).optional(),
  client: z.string().max(64).optional(),
  /** Minimum duration of the requests, in milliseconds. */
  slower_than: z.number().min(0).optional(),
  since: moment.optional(),
  /** Text that any field of the entry must contain. */
  search: z.string().max(200).default(''),
})
/** Filter of entries; absent fields match all entries. */
export type ActivityFilter = z.input<typeof filter>

/** Returns a function that tests entries against a filter. Used by the controller and the console's page. */
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

/** Returns the text of an entry that a search examines, in lower case. */
function textOf(entry: ActivityEntry): string {
  const { api, operation, method, path, ret, client, credential, room, params, msg, reason, answer } = entry
  const texts = [api, operation, method, path, String(ret), client, credential, room, msg, reason, answer]
  for (const [name, value] of Object.entries(params)) texts.push(name, value)
  return texts.join('\n').toLowerCase()
}

export const activityProcedures = {
  'activity.list': read({
    summary: 'The newest requests kept that match, newest first.',
    input: filter.extend({ before: z.int().optional(), limit: z.int().min(1).max(500).default(200) }),
    output: z.strictObject({
      items: z.array(activityEntry),
      kept: z.int(),
      capacity: z.int(),
      /** Number of successful requests omitted since the start because too many arrived at once. */
      skipped: z.int(),
    }),
    access: viewer('events:read'),
    refreshOn: ['activity.added'],
  }),
  'activity.clear': change({
    summary: 'Forget every entry.',
    input: emptyOutcome,
    output: done,
    access: person('admin'),
    event: { outside: 'memory', subjects: () => [subject.site] },
  }),
  'activity.export': read({
    summary: 'The entries that match as NDJSON, oldest first.',
    input: filter,
    output: z.strictObject({ text: z.string() }),
    access: viewer('events:read'),
  }),
}

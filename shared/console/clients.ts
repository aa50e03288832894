import { z } from 'zod'
import { clientCheckIds } from '../domain/client-checks.ts'
import { languages } from '../languages.ts'
import { limits } from '../limits.ts'
import { change, read } from './declare.ts'
import { emptyOutcome, moment } from '../domain/outcome.ts'
import { admin } from './procedure-access.ts'
import { subject } from './procedure-events.ts'

/** Watching of API clients: the controller checks the calls of a credential by rules for clients. */

const key = z.strictObject({ access_key: z.string().min(1).max(limits.accessKey) })

/** Fault rule that provokes the case of a check. */
const provokingFault = z.strictObject({
  operation: z.string(),
  ret: z.int().nullable(),
  delay_ms: z.int(),
  drop: z.boolean(),
})

/** A rule for clients, with what was seen of a client. */
const clientCheckView = z.strictObject({
  id: z.enum(clientCheckIds),
  /** Document and section of the rule, e.g. `specification 5`. */
  source: z.string(),
  /** Numbers of calls that follow the rule and that break it. */
  right: z.int(),
  wrong: z.int(),
  /** Last call that breaks the rule, without secrets; null: none. */
  example: z.strictObject({ at: moment, call: z.string() }).nullable(),
  /** Null: the client needs no fault for it. */
  fault: provokingFault.nullable(),
})
export type ClientCheckView = z.output<typeof clientCheckView>

/** Watch of a client; `began_at` 0: it was never watched since the start of the controller. */
const clientWatchSummary = key.extend({
  label: z.string(),
  running: z.boolean(),
  began_at: moment,
  /** End of the watch; in the future while it runs. */
  ends_at: moment,
  calls: z.int(),
  /** Numbers of checks: broken, only followed, and not seen yet. */
  wrong: z.int(),
  right: z.int(),
  unseen: z.int(),
})
export type ClientWatchSummary = z.output<typeof clientWatchSummary>

const clientWatchView = clientWatchSummary.extend({
  checks: z.array(clientCheckView),
  /** Public key with which this site signs reports: 32 bytes in base64url. */
  report_key: z.string(),
})
export type ClientWatchView = z.output<typeof clientWatchView>

export const clientProcedures = {
  'clients.watched': read({
    summary: 'The watched clients, and those that were watched, with a summary of each.',
    input: emptyOutcome,
    output: z.array(clientWatchSummary),
    access: admin('site:read'),
    refreshOn: ['activity.added', 'credentials.changed'],
  }),
  'clients.checks': read({
    summary: 'What a client did right, did wrong and never tried, by the rules for clients.',
    input: key,
    output: clientWatchView,
    access: admin('site:read'),
    refreshOn: ['activity.added', 'credentials.changed'],
  }),
  'clients.watch': change({
    summary:
      'Check the calls of a credential by the rules for clients, for so many hours or until it is stopped. A new watch replaces the last one.',
    input: key.extend({ running: z.boolean(), hours: z.int().min(1).max(168).default(24) }),
    output: clientWatchView,
    access: admin('lab:write'),
    event: {
      outside: 'memory',
      subjects: ({ access_key }) => [subject.credential(access_key)],
      facts: ({ running, hours }) => ({ running, minutes: hours * 60 }),
    },
  }),
  'clients.report': read({
    summary: 'The report about a watched client as a signed HTML page, which `roomdesk check-report` checks.',
    input: key.extend({ language: z.enum(languages.map(({ id }) => id)).default('en') }),
    output: z.strictObject({ text: z.string() }),
    access: admin('site:read'),
    refreshOn: [],
  }),
}

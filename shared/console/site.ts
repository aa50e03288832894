import { z } from 'zod'
import { deviceErrorKinds } from '../device.ts'
import { licenceSchema } from '../licence.ts'
import { optionalFields } from '../optional-fields.ts'
import { needsPerson, type SettingsPatch, settingsPatchSchema, settingsSchema } from '../settings.ts'
import { figureHistory, figureQuery } from './figures.ts'
import { olderClientsView, refusedClient } from './older-clients.ts'
import { recordVersion, seenVersion } from '../domain/record-version.ts'
import { change, lasting, read } from './declare.ts'
import { done, fieldProblem, moment, emptyOutcome } from '../domain/outcome.ts'
import { admin, type InputNeeds, person, signedIn, type SiteBefore, viewer } from './procedure-access.ts'
import { changes, subject, unrecorded } from './procedure-events.ts'

const listenerView = z.strictObject({
  name: z.enum(['media', 'device', 'node', 'console', 'event']),
  state: z.enum(['listening', 'stopped', 'failed']),
  /** URL of the listener, e.g. `http://127.0.0.1:7080`; empty: closed. */
  url: z.string(),
  /** URLs of the same port at all reachable addresses of this machine. */
  urls: z.array(z.string()),
  error: z.string(),
  /** Time at which the port could not be opened; 0: it is open, or should be closed. */
  failed_at: moment,
})

export const storeNotice = z.strictObject({
  level: z.enum(['info', 'warning', 'error']),
  at: moment,
  code: z.string(),
  message: z.string(),
  file: z.string().optional(),
  /** Whether confirmed changes were lost, or may have been lost. */
  lost: z.boolean().optional(),
  /** Time at which the first lost change was stored. */
  since: moment.optional(),
})

/** Key that seals the site's secrets. */
const siteKeyView = z.strictObject({
  /**
   * Place of the key, in the data folder. `file`: a file readable only by this user; `keychain`: a file wrapped by the
   * user's keychain.
   */
  place: z.enum(['file', 'keychain']),
  /** Name of the key's file in the data folder. */
  file: z.string(),
  /** Whether the key is in a plain file because no keychain was available. */
  unprotected: z.boolean(),
  /** File outside the data folder that is also required to open a copy of the site; empty: none. */
  also: z.string(),
})
export type SiteKeyView = z.output<typeof siteKeyView>

/** Problem or notice that requires the operator's attention. */
export const attention = z.strictObject({
  level: z.enum(['error', 'warning', 'info']),
  code: z.enum([
    'restarted',
    'diskRefused',
    'databaseRefused',
    'databaseAway',
    'databasePlain',
    'databaseUnverified',
    'databaseFsyncOff',
    'databaseFullPageWritesOff',
    'databaseLocalCommit',
    'databaseAsynchronous',
    'recovered',
    'changesLost',
    'nodeOffline',
    'noNode',
    'simulatedNode',
    'keyUnprotected',
    'deviceDown',
    'devicesDown',
    'eventLogRefused',
    'listenerDown',
    'licenceExpired',
    'licenceEnding',
    'licenceFull',
    'certificateEnding',
    'certificateBroken',
    'authorityReplaced',
    'authorityRenewed',
    'authFailures',
    'recordingStorageLow',
    'recordingFolder',
    'recordingFailed',
    'recordingFilesMissing',
    'recordingDiskLate',
    'recordingObjects',
    'faultsActive',
    'olderClientRefused',
    'accessTokenRefused',
    'secretsInUrls',
    'plainHttp',
    'guestsWaiting',
    'machineBusy',
  ]),
  /** Subject: the name of a node, a userId, a listener, or the address and access_key of a client. */
  subject: z.string(),
  /** Display name of the subject; empty: the same as the subject. */
  name: z.string(),
  /** Cause: the kind of a device's error, or the message of a node or the disk; empty: the code implies it. */
  why: z.string(),
  /** Number of affected objects, if the item represents several. `of`: total number; `reasons`: most frequent first. */
  count: z.int(),
  of: z.int(),
  reasons: z.array(z.strictObject({ kind: z.enum(deviceErrorKinds), count: z.int() })),
  /** English message for logs and scripts; the console translates it by code. */
  message: z.string(),
  since: moment,
})
export type Attention = z.output<typeof attention>

export const overviewView = z.strictObject({
  product: z.string(),
  version: z.string(),
  /** Versions of the runtime: Node.js, the WebRTC library of the media program, and its OpenSSL. */
  runtime: z.strictObject({ node: z.string(), webrtc: z.string(), openssl: z.string() }),
  started_at: moment,
  listeners: z.array(listenerView),
  store: z.strictObject({
    healthy: z.boolean(),
    last_error: z.string(),
    backlog: z.int(),
    last_flush_ms: z.number(),
    journal_bytes: z.int(),
    snapshot_at: moment,
    notices: z.array(storeNotice),
    /** Losses of changes, at this start or an earlier one, that the operator has not dismissed. */
    losses: z.array(storeNotice),
    folder: z.string(),
    key: siteKeyView,
  }),
  counts: z.strictObject({
    rooms: z.int(),
    credentials: z.int(),
    nodes: z.int(),
    nodes_online: z.int(),
    devices: z.int(),
    devices_joined: z.int(),
    people: z.int(),
    sessions: z.int(),
  }),
  attention: z.array(attention),
  older_clients: olderClientsView,
  /** Whether the site is unused; if so, the console shows its welcome page. */
  fresh: z.boolean(),
})
export type OverviewView = z.output<typeof overviewView>

/** Sample for the live charts: counts of the `seconds` before `at`. */
export const sample = z.strictObject({
  at: moment,
  seconds: z.number(),
  media_requests: z.int(),
  device_requests: z.int(),
  /** Number of failures by `ret`, of both APIs. */
  failures: z.record(z.string(), z.int()),
  /** Median response time in milliseconds; `p99`: 99th percentile; 0: no responses. */
  p50: z.number(),
  p99: z.number(),
  people: z.int(),
  devices: z.int(),
})
export type Sample = z.output<typeof sample>

export const settingsView = settingsSchema.extend({ version: recordVersion })

const needsOfSettings = (
  {
    version: _,
    expected_version: _e,
    ...patch
  }: SettingsPatch & { version?: string | undefined; expected_version?: string | undefined },
  { settings }: SiteBefore,
): InputNeeds => ({ person: needsPerson(patch, settings) })

export const siteProcedures = {
  'overview.get': read({
    summary: 'State of the site at a glance.',
    input: emptyOutcome,
    output: overviewView,
    access: viewer('site:read'),
    refreshOn: [
      'listeners.changed',
      'nodes.changed',
      'licence.changed',
      'settings.changed',
      'credentials.changed',
      'store.noticed',
      'rooms.changed',
      'devices.changed',
      'attention.changed',
    ],
  }),
  'overview.samples': read({
    summary: 'The last 15 minutes of the live charts, oldest first.',
    input: emptyOutcome,
    output: z.array(sample),
    access: viewer('site:read'),
    refreshOn: ['overview.sampled'],
  }),
  'overview.history': read({
    summary: 'Recorded figures of the controller that answers, over 15 minutes to 30 days, while it led.',
    input: figureQuery,
    output: figureHistory,
    access: viewer('site:read'),
  }),
  'overview.dismiss_welcome': change({
    summary: 'Do not show the welcome page again.',
    input: emptyOutcome,
    output: done,
    access: admin('site:write'),
    event: unrecorded('only hides a page'),
  }),
  'overview.dismiss_losses': change({
    summary: 'Hide the notice about data that the store has lost.',
    input: emptyOutcome,
    output: done,
    access: admin('site:write'),
    event: { outside: 'files', subjects: () => [subject.site] },
  }),
  'overview.dismiss_older_client': change({
    summary: 'That this client was refused was seen: it is not shown again while the controller runs.',
    input: refusedClient,
    output: done,
    access: admin('site:write'),
    event: { outside: 'memory', subjects: () => [subject.site], facts: ({ client }) => ({ client }) },
  }),
  'licence.get': read({
    summary: 'The licence and what of it is used.',
    input: emptyOutcome,
    output: licenceSchema.extend({ rooms: z.int(), users: z.int(), expired: z.boolean(), version: recordVersion }),
    access: viewer('site:read'),
    refreshOn: ['licence.changed', 'rooms.changed'],
  }),
  'licence.set': change({
    summary: 'Replace the licence. With expected_version, what is left out stays.',
    input: z.strictObject({ ...optionalFields(licenceSchema), ...seenVersion }),
    output: done,
    edits: () => ({ kind: 'licence', key: 'site' }),
    whole: true,
    access: person('admin'),
    event: changes('licence'),
  }),
  'settings.get': read({
    summary: 'Every setting.',
    input: emptyOutcome,
    output: settingsView,
    // Pages need defaults, language and limits. Secrets are never included.
    access: viewer('site:read'),
    refreshOn: ['settings.changed'],
  }),
  'settings.check': read({
    summary: 'Say what applying these settings would do, changing nothing: ports are tried.',
    input: settingsPatchSchema,
    output: z.strictObject({
      ok: z.boolean(),
      problems: z.array(fieldProblem),
      restarts: z.array(z.string()),
    }),
    access: admin('site:write'),
    // A check reads the files named in the settings, so it requires the same access as applying them.
    needs: needsOfSettings,
  }),
  'settings.set': change({
    summary: 'Merge these settings over what is there and apply them; nothing changes when one cannot be applied.',
    input: settingsPatchSchema.extend({
      ...seenVersion,
      /** Ignored. Accepted so that a complete settings object can be sent back. */
      version: recordVersion.optional(),
    }),
    output: settingsView,
    edits: () => ({ kind: 'settings', key: 'site' }),
    access: admin('site:write'),
    needs: needsOfSettings,
    event: changes('settings'),
  }),
  'listeners.restart': change({
    summary: 'Stop and start the two API listeners.',
    input: emptyOutcome,
    output: z.array(listenerView),
    // A restart closes the connections of clients.
    access: signedIn('admin'),
    event: { outside: 'clients', subjects: () => [subject.site] },
  }),
  'tls.info': read({
    summary: 'The certificate in use.',
    input: emptyOutcome,
    output: z.strictObject({
      mode: z.enum(['off', 'file', 'self-signed']),
      subject: z.string(),
      issuer: z.string(),
      expires_at: moment,
      fingerprint: z.string(),
      /** Fingerprint of the certificate that devices must trust. */
      trust_fingerprint: z.string(),
    }),
    access: viewer('site:read'),
    refreshOn: ['settings.changed', 'listeners.changed'],
  }),
  'console.replace_key': lasting({
    summary:
      'Replace the console key. Consoles that signed in with it must sign in again. `key` is empty for a browser: read the new key in `file`.',
    input: emptyOutcome,
    output: z.strictObject({ key: z.string(), file: z.string() }),
    access: person('admin'),
    event: { outside: 'files', subjects: () => [subject.site] },
  }),
}

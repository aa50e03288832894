import { z } from 'zod'
import { deviceErrorKinds } from '../device.ts'
import { licenceSchema } from '../licence.ts'
import { optionalFields } from '../optional-fields.ts'
import { settingsPatchSchema, settingsSchema } from '../settings.ts'
import { figureHistory, figureQuery } from './figures.ts'
import { olderClientsView, refusedClient } from './older-clients.ts'
import { edit, recordVersion, seenVersion } from './edit.ts'
import { done, fieldProblem, moment, nothing, procedure } from './procedure.ts'
import { roleNames } from './role-names.ts'

const listenerView = z.strictObject({
  name: z.enum(['media', 'device', 'node', 'console', 'event']),
  state: z.enum(['listening', 'stopped', 'failed']),
  /** URL of the listener, e.g. `http://127.0.0.1:7080`; empty: not listening. */
  url: z.string(),
  /** The same port on every reachable address of this machine. */
  urls: z.array(z.string()),
  error: z.string(),
  /** Time since when it cannot listen; 0: it can, or should not. */
  failed_at: moment,
})

export const storeNotice = z.strictObject({
  level: z.enum(['info', 'warning', 'error']),
  at: moment,
  code: z.string(),
  message: z.string(),
  file: z.string().optional(),
  /** Confirmed changes are lost, or may be. */
  lost: z.boolean().optional(),
  /** When the first of them was stored. */
  since: moment.optional(),
})

/** Key that seals the site's secrets. */
const siteKeyView = z.strictObject({
  /** Readable only by this user, or wrapped by the keychain of their session; in the data folder. */
  place: z.enum(['file', 'keychain']),
  /** Its file name there. */
  file: z.string(),
  /** No keychain was available to protect it. */
  unprotected: z.boolean(),
  /** A file outside of the data folder that a copy needs to be opened; empty: none. */
  also: z.string(),
})
export type SiteKeyView = z.output<typeof siteKeyView>

/** An item that needs the operator's attention, most urgent first. */
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
  /** Subject: a node's name, a userId, a listener, a client's address and access_key. */
  subject: z.string(),
  /** Display name of the subject; empty if the same. */
  name: z.string(),
  /** Cause: the kind of a device's error, the message of a node or the disk; empty if the code says it. */
  why: z.string(),
  /** Counts of an item that stands for many: affected and total, and the reasons, most frequent first. */
  count: z.int(),
  of: z.int(),
  reasons: z.array(z.strictObject({ kind: z.enum(deviceErrorKinds), count: z.int() })),
  /** English, for logs and scripts; the console translates it by code. */
  message: z.string(),
  since: moment,
})
export type Attention = z.output<typeof attention>

export const overviewView = z.strictObject({
  product: z.string(),
  version: z.string(),
  /** Versions of the runtime: Node, the WebRTC library of the media program, and its OpenSSL. */
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
    /** Losses at this start or an earlier one that were not dismissed. */
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
  /** The site is unused: the console shows its welcome page. */
  fresh: z.boolean(),
})
export type OverviewView = z.output<typeof overviewView>

/** One sample of the live charts: events in the `seconds` before `at`. */
export const sample = z.strictObject({
  at: moment,
  seconds: z.number(),
  media_requests: z.int(),
  device_requests: z.int(),
  /** Failures by ret, both APIs. */
  failures: z.record(z.string(), z.int()),
  /** Milliseconds; 0: no answers. */
  p50: z.number(),
  p99: z.number(),
  people: z.int(),
  devices: z.int(),
})
export type Sample = z.output<typeof sample>

/**
 * Origin of a backup, by its proof with the site's key: `good`: made by this site; `missing`: by an earlier version, or another program; `wrong`: changed,
 * or made by another site.
 */
const backupProofs = ['good', 'missing', 'wrong'] as const
export type BackupProof = (typeof backupProofs)[number]

const backupView = z.strictObject({
  name: z.string(),
  at: moment,
  bytes: z.int(),
  /** It stays until it is deleted. */
  kept: z.boolean(),
  /** The file was uploaded. */
  uploaded: z.boolean(),
  proof: z.enum(backupProofs),
})
/** Id of an upload in progress. */
const uploadName = z.string().regex(/^[0-9a-z]{1,36}$/)
/** Maximum number of bytes per read of a backup. */
export const backupPart = 1024 * 1024
const backupName = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[\w.-]+$/),
})

/** Effect of a restore on an account or an access token. */
const accessChange = z.strictObject({
  kind: z.enum(['account', 'token']),
  change: z.enum(['gained', 'lost', 'changed']),
  /** Name of the account, or label of the token. */
  name: z.string(),
  /** Name of the account; of a token whose account is not there empty. */
  account: z.string(),
  /** Role after the restore; for a loss, before it. */
  role: z.enum(roleNames),
  enabled: z.boolean(),
  /** Expiry of a token. */
  expires_at: moment,
})
export type AccessChange = z.output<typeof accessChange>

/** Content of a backup, compared with the current state. */
const backupPreview = z.strictObject({
  name: z.string(),
  at: moment,
  rooms: z.int(),
  credentials: z.int(),
  nodes: z.int(),
  devices: z.int(),
  accounts: z.int(),
  access_tokens: z.int(),
  wall_views: z.int(),
  now: z.strictObject({
    rooms: z.int(),
    credentials: z.int(),
    nodes: z.int(),
    devices: z.int(),
    accounts: z.int(),
    access_tokens: z.int(),
    wall_views: z.int(),
  }),
  /** Accounts and access tokens that are added, removed or changed; the first hundred of `access_total`. */
  access: z.array(accessChange),
  access_total: z.int(),
  proof: z.enum(backupProofs),
  /** This caller may restore it: a backup of another origin is restored only at the machine itself. */
  restorable: z.boolean(),
})

export const settingsView = settingsSchema.extend({ version: recordVersion })

export const siteProcedures = {
  'overview.get': procedure('State of the site at a glance.', nothing, overviewView),
  'overview.samples': procedure('The last 15 minutes of the live charts, oldest first.', nothing, z.array(sample)),
  'overview.history': procedure(
    'Recorded figures of the controller that answers, over 15 minutes to 30 days, while it led.',
    figureQuery,
    figureHistory,
  ),
  'overview.dismiss_welcome': procedure('Do not show the welcome page again.', nothing, done),
  'overview.dismiss_losses': procedure('What the store has lost was seen: do not show it any more.', nothing, done),
  'overview.dismiss_older_client': procedure(
    'That this client was refused was seen: it is not shown again while the controller runs.',
    refusedClient,
    done,
  ),
  'licence.get': procedure(
    'The licence and what of it is used.',
    nothing,
    licenceSchema.extend({ rooms: z.int(), users: z.int(), expired: z.boolean(), version: recordVersion }),
  ),
  'licence.set': edit(
    'Replace the licence. With expected_version, what is left out stays.',
    z.strictObject({ ...optionalFields(licenceSchema), ...seenVersion }),
    done,
    () => ({ kind: 'licence', key: 'site' }),
    true,
  ),
  'settings.get': procedure('Every setting.', nothing, settingsView),
  'settings.check': procedure(
    'Say what applying these settings would do, changing nothing: ports are tried.',
    settingsPatchSchema,
    z.strictObject({
      ok: z.boolean(),
      problems: z.array(fieldProblem),
      restarts: z.array(z.string()),
    }),
  ),
  'settings.set': edit(
    'Merge these settings over what is there and apply them; nothing changes when one cannot be applied.',
    settingsPatchSchema.extend({
      ...seenVersion,
      /** Ignored: whole settings that were read may be sent back. */
      version: recordVersion.optional(),
    }),
    settingsView,
    () => ({ kind: 'settings', key: 'site' }),
  ),
  'listeners.restart': procedure('Stop and start the two API listeners.', nothing, z.array(listenerView)),
  'tls.info': procedure(
    'The certificate in use.',
    nothing,
    z.strictObject({
      mode: z.enum(['off', 'file', 'self-signed']),
      subject: z.string(),
      issuer: z.string(),
      expires_at: moment,
      fingerprint: z.string(),
      /** Fingerprint of the certificate to trust on devices. */
      trust_fingerprint: z.string(),
    }),
  ),
  'backups.list': procedure('Backups, newest first.', nothing, z.array(backupView)),
  'backups.make': procedure('Make a backup now. It stays until it is deleted.', nothing, backupView),
  'backups.keep': procedure(
    'Keep a backup until it is deleted, or let it go in its time.',
    backupName.extend({ kept: z.boolean() }),
    done,
  ),
  'backups.delete': procedure('Delete a backup.', backupName, done),
  'backups.read': procedure(
    'A part of a backup as a tar archive, in base64, and the bytes of the whole. The secrets in it are sealed with the key of this site.',
    backupName.extend({ offset: z.int().min(0), length: z.int().min(1).max(backupPart).default(backupPart) }),
    z.strictObject({ data: z.string(), total: z.int() }),
  ),
  'backups.write': procedure(
    'Upload a part of a backup that was downloaded, in base64, one after the other from offset 0.',
    z.strictObject({ upload: uploadName, offset: z.int().min(0), data: z.base64().max(2 * backupPart) }),
    done,
  ),
  'backups.add': procedure(
    'Put what was uploaded among the backups, once it is found whole and of this site. Nothing is restored.',
    z.strictObject({ upload: uploadName }),
    backupView,
  ),
  'backups.preview': procedure('What a backup holds, against what is there.', backupName, backupPreview),
  'backups.restore': procedure(
    'Put a backup in place of the current state, which is backed up first. One that this site did not make is restored on the machine itself only. Listeners and certificate follow; problems say what of them cannot.',
    backupName,
    z.strictObject({ problems: z.array(fieldProblem) }),
  ),
  'console.replace_key': procedure(
    'Replace the console key. Consoles that signed in with it must sign in again. `key` is empty for a browser: read the new key in `file`.',
    nothing,
    z.strictObject({ key: z.string(), file: z.string() }),
  ),
}

import type { Attention, OverviewView } from '../../shared/console/site.ts'
import { type Licence, licenceEnd } from '../../shared/licence.ts'
import type { SiteMedium } from '../../shared/console/controllers.ts'
import {
  type DatabaseRisk,
  databaseRiskMessages,
  durabilityCodes,
  durabilityMessages,
} from '../../shared/domain/database-risks.ts'
import { type DeviceErrorKind, deviceErrorMessages } from '../../shared/device.ts'
import { awayReason } from '../../shared/away-reason.ts'
import type { OlderClientsView, RefusedCall } from '../../shared/console/older-clients.ts'
import type { AuthorityChange } from '../edge/own-certificate.ts'
import { authorityNotice } from '../edge/tls.ts'
import { plainListeners } from '../edge/network-addresses.ts'
import { carriesMedia } from '../nodes/port/node-driver.ts'
import type { BusyMachine } from '../observe/figures/machine-load.ts'
import type { EventLogStatus } from '../event-log/event-log.ts'
import { withAdvice } from '../store/notices.ts'
import type { StoreStatus } from '../store/store.ts'
import type { WaitingView } from '../../shared/domain/waiting.ts'
import type { DeviceView } from '../../shared/domain/devices.ts'
import type { NodeView } from '../../shared/domain/nodes.ts'
import type { RecordingProblem, RecordingStatus } from '../../shared/domain/recordings.ts'

const day = 24 * 60 * 60 * 1000

export interface AttentionSources {
  now: number
  store: StoreStatus
  /** Storage of the site's state. */
  medium: SiteMedium
  nodes: readonly NodeView[]
  devices: readonly DeviceView[]
  listeners: OverviewView['listeners']
  licence: Licence
  rooms: number
  users: number
  /** Expiry of the TLS certificate, in milliseconds since the epoch; 0: no certificate. */
  certificateEnds: number
  /** Reason why the certificate in the configured files is not used. */
  certificateProblem: Readonly<{ message: string; since: number }> | undefined
  /** Change of the certificate authority that devices may have to trust; undefined: no change. */
  authorityChange: AuthorityChange | undefined
  faults: number
  olderClients: OlderClientsView
  /** Times at which the controller restarted after an unexpected error, the latest last. */
  restarts: readonly number[]
  eventLog: EventLogStatus
  /** Reason why the connection to the database is not secure; undefined: secure, or no database. */
  databaseRisk: DatabaseRisk | undefined
  /** Problems of recording. */
  recordings: RecordingStatus['problems']
  /** See SiteKeyView. */
  keyUnprotected: boolean
  /** Whether people reach the site through a TLS proxy: the public address starts with https. */
  behindTls: boolean
  /** Guests waiting to be admitted. */
  guests: Pick<WaitingView, 'items' | 'total'>
  /** CPU usage in percent of all cores, and the start of the high usage; undefined: usage is not high. */
  busy: BusyMachine | undefined
}

const urgency = { error: 0, warning: 1, info: 2 } as const

/**
 * Lists everything that requires the operator's attention, ordered by level, then by number of affected objects, then
 * newest first. The list is computed again at each call, so entries need not be cleared.
 */
export function attentionOf(sources: AttentionSources): Attention[] {
  const found = [
    ...ofRestarts(sources),
    ...ofStore(sources),
    ...ofEventLog(sources),
    ...ofListeners(sources),
    ...ofNodes(sources),
    ...ofDevices(sources),
    ...ofLicence(sources),
    ...ofCertificate(sources),
    ...ofAuthority(sources),
    ...ofOlderClients(sources),
    ...ofRecordings(sources),
    ...ofKey(sources),
    ...ofDatabaseRisk(sources),
    ...ofDurability(sources),
    ...ofPlainHttp(sources),
    ...ofGuests(sources),
    ...ofMachine(sources),
  ]
  if (sources.faults > 0) {
    found.push(
      item(
        'warning',
        'faultsActive',
        String(sources.faults),
        'API faults are active: some requests fail on purpose.',
        0,
      ),
    )
  }
  return found.sort(
    (one, other) => urgency[one.level] - urgency[other.level] || other.count - one.count || other.since - one.since,
  )
}

function item(
  level: Attention['level'],
  code: Attention['code'],
  subject: string,
  message: string,
  since: number,
  more: Partial<Attention> = {},
): Attention {
  return { level, code, subject, message, since, name: '', why: '', count: 1, of: 0, reasons: [], ...more }
}

/**
 * Warns about plain HTTP: passwords and media are sent unencrypted, and browsers on other devices deny access to camera
 * and microphone.
 */
function ofPlainHttp({ listeners, behindTls }: AttentionSources): Attention[] {
  const plain = behindTls ? [] : plainListeners(listeners)
  if (plain.length === 0) return []
  const message =
    'Plain HTTP is open to the network: others can read passwords and tokens, and people on other devices have neither camera nor microphone. Choose a certificate.'
  return [item('warning', 'plainHttp', plain.join(', '), message, 0)]
}

function ofGuests({ guests: { items, total } }: AttentionSources): Attention[] {
  if (total === 0) return []
  const message = `Guests who wait to be let in: ${total}.`
  return [item('info', 'guestsWaiting', '', message, items[0]?.since ?? 0, { count: total })]
}

function ofMachine({ busy }: AttentionSources): Attention[] {
  if (busy === undefined) return []
  const percent = Math.round(busy.percent)
  const message = `The machine is busy: ${percent} % of its CPU time is in use. Pictures may freeze and sound may break up.`
  return [item('warning', 'machineBusy', String(percent), message, busy.since)]
}

/** Reports restarts for a day, so that the next morning the operator sees why a meeting was interrupted. */
function ofRestarts({ restarts, now }: AttentionSources): Attention[] {
  const last = restarts.at(-1)
  if (last === undefined || now - last > day) return []
  const message =
    'Roomdesk restarted after an unexpected error; meetings were interrupted for a few seconds. Please report the log entry "unexpected error".'
  return [item('warning', 'restarted', String(restarts.length), message, last)]
}

/** Reports an unreachable database as soon as the outage is detected, before any change fails. */
function ofDatabase({ kind, away_since, error }: SiteMedium): Attention[] {
  if (kind !== 'database' || away_since === 0) return []
  const message = `The database cannot be reached (${awayReason(error)}): changes are refused; reads, media and presence go on.`
  return [item('error', 'databaseAway', '', message, away_since, { why: awayReason(error) })]
}

function ofStore({ store, medium }: AttentionSources): Attention[] {
  const away = ofDatabase(medium)
  const refused =
    store.healthy || away.length > 0
      ? away
      : [
          item(
            'error',
            store.medium === 'disk' ? 'diskRefused' : 'databaseRefused',
            '',
            `The ${store.medium} refuses to store changes: ${store.lastError ?? 'unknown'}.`,
            store.refusesSince,
            {
              why: store.lastError ?? '',
            },
          ),
        ]
  const recovered = store.notices
    .filter(
      ({ level, code, lost }) => level !== 'info' && lost !== true && (code === 'recovered' || code === 'damaged'),
    )
    .map(({ file, message, at }) => item('warning', 'recovered', file ?? '', message, at))
  const lost = store.losses.map((loss) => item('warning', 'changesLost', loss.file ?? '', withAdvice(loss), loss.at))
  return [...refused, ...lost, ...recovered]
}

const recordingCodes: Partial<Record<RecordingProblem, [Attention['level'], Attention['code']]>> = {
  folderMissing: ['error', 'recordingFolder'],
  folderReadOnly: ['error', 'recordingFolder'],
  folderOfOtherSite: ['error', 'recordingFolder'],
  folderFailed: ['error', 'recordingFolder'],
  storageLow: ['error', 'recordingStorageLow'],
  writeFailed: ['error', 'recordingFailed'],
  filesMissing: ['warning', 'recordingFilesMissing'],
  diskLate: ['warning', 'recordingDiskLate'],
  objectsFailed: ['warning', 'recordingObjects'],
}

function ofRecordings({ recordings }: AttentionSources): Attention[] {
  return recordings.flatMap(({ code, subject, message, since }) => {
    const [level, known] = recordingCodes[code] ?? []
    if (level === undefined || known === undefined) return []
    return [item(level, known, subject, message, since, { why: code })]
  })
}

function ofKey({ keyUnprotected }: AttentionSources): Attention[] {
  if (!keyUnprotected) return []
  const message =
    'This session has no keychain: the key that protects stored secrets is in a file that only this user can read.'
  return [item('info', 'keyUnprotected', '', message, 0)]
}

function ofDatabaseRisk({ databaseRisk: risk }: AttentionSources): Attention[] {
  if (risk === undefined) return []
  const code = risk === 'plain' ? 'databasePlain' : 'databaseUnverified'
  return [item('warning', code, '', databaseRiskMessages[risk], 0)]
}

function ofDurability({ medium }: AttentionSources): Attention[] {
  return medium.risks.map((risk) =>
    item(
      risk === 'fsync' || risk === 'fullPageWrites' ? 'error' : 'warning',
      durabilityCodes[risk],
      '',
      durabilityMessages[risk],
      0,
    ),
  )
}

function ofEventLog({ eventLog: { healthy, lastError, since, lost }, medium }: AttentionSources): Attention[] {
  if (healthy) return []
  const message = `The event log cannot be written: ${lastError}. Everything else keeps working; ${lost} events were not kept.`
  // Events are stored in the database, so an outage of the database also counts as the start of this problem.
  const began = medium.away_since > 0 ? Math.min(since, medium.away_since) : since
  return [item('error', 'eventLogRefused', '', message, began, { why: lastError })]
}

function ofListeners({ listeners }: AttentionSources): Attention[] {
  return listeners
    .filter(({ state }) => state === 'failed')
    .map(({ name, error, failed_at }) => item('error', 'listenerDown', name, error, failed_at, { why: error }))
}

function ofNodes({ nodes }: AttentionSources): Attention[] {
  const found: Attention[] = []
  const enabled = nodes.filter(({ config }) => config.enabled)
  const real = enabled.filter(({ config }) => carriesMedia(config))
  // If there are real nodes, simulated nodes serve only the lab.
  const serving = real.length > 0 ? real : enabled
  if (!serving.some(({ state }) => state === 'online' || state === 'connecting')) {
    found.push(item('error', 'noNode', '', 'No MCU node takes rooms: get_mcu answers 410.', 0))
  }
  for (const { config, state, last_error, since } of enabled) {
    if (state === 'offline')
      found.push(
        item('error', 'nodeOffline', config.name, `${config.name} is offline. ${last_error}`.trim(), since, {
          why: last_error,
        }),
      )
    if (config.kind === 'simulated') {
      found.push(
        item(
          'info',
          'simulatedNode',
          config.name,
          `${config.name} is simulated: it holds people and devices in memory and carries no media.`,
          since,
        ),
      )
    }
  }
  return found
}

/**
 * Maximum number of failed devices listed separately. A larger number is combined into one entry, so that the failure
 * of a network switch does not hide other problems.
 */
const namedDevices = 3

function ofDevices({ devices }: AttentionSources): Attention[] {
  // While a device is trying to join again, its entry stays in the list.
  const down = devices.flatMap(({ state, last_error, ...device }) =>
    (state === 'waiting' || state === 'joining') && last_error !== null ? [{ ...device, ...last_error }] : [],
  )
  if (down.length > namedDevices) return [ofManyDevices(down, devices.length)]
  return down.map(({ userId, userName, kind, message, since }) =>
    item('warning', 'deviceDown', userId, `${userName}: ${message}`, since, { name: userName, why: kind }),
  )
}

/**
 * Returns one entry for many devices: their number, the time of the first failure, and the reasons, most frequent
 * first. The level is `error` if at least half of the devices are affected.
 */
function ofManyDevices(down: readonly { kind: DeviceErrorKind; since: number }[], of: number): Attention {
  const counts = new Map<DeviceErrorKind, number>()
  for (const { kind } of down) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const reasons = [...counts].map(([kind, count]) => ({ kind, count })).sort((one, other) => other.count - one.count)
  const why = reasons.map(({ kind, count }) => `${count}: ${deviceErrorMessages[kind]}`).join(' ')
  const message = `${down.length} of ${of} devices are not joined. ${why}`
  const since = Math.min(...down.map((device) => device.since))
  const level = down.length * 2 >= of ? 'error' : 'warning'
  return item(level, 'devicesDown', '', message, since, { count: down.length, of, reasons })
}

function ofLicence({ licence, now, rooms, users }: AttentionSources): Attention[] {
  const found: Attention[] = []
  const end = licenceEnd(licence)
  if (end <= now)
    found.push(item('error', 'licenceExpired', '', 'The licence has expired: no room can be created.', end))
  else if (end - now < 30 * day)
    found.push(item('warning', 'licenceEnding', '', `The licence expires on ${licence.expires_at}.`, now))
  if (licence.max_rooms > 0 && rooms >= licence.max_rooms) {
    found.push(item('warning', 'licenceFull', 'rooms', `All ${licence.max_rooms} rooms of the licence exist.`, 0))
  }
  if (licence.max_users > 0 && users >= licence.max_users) {
    found.push(
      item('warning', 'licenceFull', 'users', `All ${licence.max_users} users of the licence are in rooms.`, 0),
    )
  }
  return found
}

function ofCertificate({ now, certificateEnds, certificateProblem }: AttentionSources): Attention[] {
  const found: Attention[] = []
  if (certificateEnds > 0 && certificateEnds - now < 30 * day) {
    found.push(
      item(
        certificateEnds <= now ? 'error' : 'warning',
        'certificateEnding',
        '',
        'The TLS certificate expires soon or has expired.',
        certificateEnds,
      ),
    )
  }
  if (certificateProblem !== undefined) {
    const { message, since } = certificateProblem
    found.push(item('error', 'certificateBroken', '', `The renewed certificate cannot be used: ${message}`, since))
  }
  return found
}

/**
 * Reports a change of the certificate authority, until the previous authority expires or the change is no longer
 * loaded.
 */
function ofAuthority({ authorityChange: change, now }: AttentionSources): Attention[] {
  if (change === undefined) return []
  const { at, subject, trusted_until } = change
  const message = authorityNotice(change)
  if (trusted_until === 0) return [item('warning', 'authorityReplaced', subject, message, at)]
  if (trusted_until <= now) return []
  return [item('warning', 'authorityRenewed', subject, message, at, { why: new Date(trusted_until).toISOString() })]
}

/** Reports up to 5 clients that a compatibility setting rejects, and the setting that allows secrets in URLs. */
function ofOlderClients({ olderClients }: AttentionSources): Attention[] {
  const found: Attention[] = []
  if (olderClients.get_access_token) {
    const message =
      'getAccessToken is on: clients may send their secret_key in a URL, which proxies and browsers store.'
    found.push(item('warning', 'secretsInUrls', '', message, 0))
  }
  const clients = new Map<string, RefusedCall>()
  for (const call of olderClients.refused) {
    const key = `${call.setting} ${caller(call)}`
    if (!clients.has(key)) clients.set(key, call)
  }
  for (const call of [...clients.values()].slice(0, 5)) {
    const code = call.setting === 'older_clients' ? 'olderClientRefused' : 'accessTokenRefused'
    const did = call.by_parameters
      ? `sent parameters to ${call.path} as only clients of the original platform do`
      : `called what only clients of the original platform call (${call.path})`
    const message = `${caller(call)} ${did}; the setting compatibility.${call.setting} is off.`
    found.push(item('warning', code, caller(call), message, call.last_at))
  }
  return found
}

/** Returns address and credential of a client. */
function caller({ client, credential }: RefusedCall): string {
  return credential === '' ? client : `${client} (${credential})`
}

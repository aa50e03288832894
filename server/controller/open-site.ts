import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { leavesMachine } from '../../shared/bind-address.ts'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { nodeConfigSchema } from '../../shared/node.ts'
import { defaultSettings, type Settings } from '../../shared/settings.ts'
import type { SiteFile } from '../../shared/site-file.ts'
import type { ConsoleKey } from '../console/console-key.ts'
import type { Dispatch } from '../console/dispatch.ts'
import type { SiteControllers } from '../console/site-controllers.ts'
import type { KeptPorts } from '../edge/kept-ports.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import { authorityNotice, tlsMaterial, type TlsMaterial } from '../edge/tls.ts'
import { EventLog, type SharedEventLog } from '../event-log/event-log.ts'
import { StoredHighWaterMark } from '../event-log/log-seal.ts'
import type { ListenerName, ListenerOverrides } from '../http/listeners.ts'
import type { PassToLeader } from '../http/request-handler.ts'
import { StuckDisk } from '../lab/stuck-disk.ts'
import { newNodeSecrets } from '../nodes/secrets/node-secrets.ts'
import { neededPorts } from '../readiness/port-checks.ts'
import type { ControllerPlace, FencedStore, SiteMember } from '../store/election/site-member.ts'
import { loadKeyFile } from '../store/files/key-file.ts'
import { openStore } from '../store/open-store.ts'
import { sealedPlaceOf } from '../store/sealed-places.ts'
import { createSealer } from '../store/sealer.ts'
import { putSettings, siteSettings } from '../store/site-settings.ts'
import type { Store } from '../store/store.ts'
import { type ControllerOptions, servesConsole } from './options.ts'
import type { Restarts } from './restarts.ts'
import { recordSiteFile } from './site-file.ts'

/** An open site, prepared according to the start options. */
export interface OpenSite {
  store: Store
  /** Simulated stuck disk of the lab: the flush gate of the store. */
  stuckDisk: StuckDisk
  events: SharedEventLog
  /** The site's certificate; undefined: plain HTTP. */
  tls: TlsMaterial | undefined
  /** Credential and node created by a first start; undefined at every later start. */
  firstStart: FirstStart | undefined
  /** Membership in a site whose leader may change; undefined: the only controller. */
  leader?: OpenedSite
}

/**
 * A site that this controller leads and that other controllers may lead later. Event log and console key outlive the
 * leadership.
 */
export interface OpenedSite {
  controllers: SiteControllers
  store: FencedStore
  member: SiteMember
  consoleKey: ConsoleKey | undefined
  proof: RequestProof
  /** Forwards requests to the current leader. */
  passToLeader: PassToLeader
  /** Calls a procedure of the current leader's console for a caller of this controller. */
  askLeader: Dispatch
  /** Ports released by the replica of this program. */
  kept: KeptPorts
  /** Ports picked by the system. */
  ports: Restarts['ports']
  /** Announces the addresses of this controller; called again when they change. */
  placed(place: ControllerPlace): void
}

/**
 * Opens the site and applies the site file.
 * @throws StoreLockedError, StoreVersionError, DatabaseError, RefusalError (a certificate of the settings is unusable),
 * or errors of the file system
 */
export async function openSite(options: ControllerOptions): Promise<OpenSite> {
  const { dataFolder, database, logger } = options
  const sealer = options.sealer ?? createSealer(await loadKeyFile(options.sealKey ?? join(dataFolder, 'seal.key')))
  const stuckDisk = new StuckDisk()
  const store = await openStore({ folder: dataFolder, database, sealer, logger, flushGate: stuckDisk })
  let events: EventLog | undefined
  try {
    const bounds = (): Settings['events'] => siteSettings(store).events
    events = await EventLog.open({ dataFolder, sealer, logger, bounds, highWaterMark: new StoredHighWaterMark(store) })
    const firstStart = await prepareSite(options, store)
    const tls = await firstMaterial(siteSettings(store), dataFolder, logger)
    return { store, stuckDisk, events, tls, firstStart }
  } catch (error) {
    await events?.close()
    await store.close()
    throw error
  }
}

/**
 * Creates what a new site needs, and applies the start options.
 * @returns credential and node created by a first start
 */
export async function prepareSite(
  options: Pick<
    ControllerOptions,
    'site' | 'sitePath' | 'keySignIn' | 'overrides' | 'consolePage' | 'consoleIsChosen' | 'logger'
  >,
  store: Store,
): Promise<FirstStart | undefined> {
  const { site, sitePath: path = '' } = options
  let made: FirstStart | undefined
  const isNew = isFirstStart(store)
  if (isNew) {
    if (site === undefined) made = await makeFirstSite(store)
    else await rememberStart(store)
  }
  if (site !== undefined) await recordSiteFile(store, path, options.logger, site)
  if (options.keySignIn === true) {
    const on: SiteFile = { settings: { console: { key_sign_in: true } } }
    await recordSiteFile(store, '--console-key', options.logger, on)
  }
  if (isNew) {
    const settings = siteSettings(store)
    const hasConsole = servesConsole(options, settings)
    const advice = firewallAdvice(settings, options.overrides ?? {}, { hasConsole })
    if (advice !== undefined) options.logger.warn(advice)
  }
  return made
}

/** Credential and node created by a first start, to be shown to the operator. */
export interface FirstStart {
  accessKey: string
  nodeName: string
}

/** Whether the site is new: every start stores the settings, so a site without settings is new. */
export function isFirstStart(store: Store): boolean {
  return store.get('settings', 'site') === undefined
}

/** Stores the settings, so that the next start is not a first start. */
async function rememberStart(store: Store): Promise<void> {
  await store.transact(['settings'], (transaction) => {
    if (isFirstStart(store)) putSettings(transaction, defaultSettings(), store)
  })
}

/** Creates what a new site needs to serve a client: a credential and the embedded node, in one transaction. */
async function makeFirstSite(store: Store, now = Date.now()): Promise<FirstStart> {
  const accessKey = randomBytes(12).toString('hex')
  const node = nodeConfigSchema.parse({ name: 'This machine', kind: 'embedded' })
  await store.transact(['settings', 'credentials', 'nodes'], (transaction) => {
    putSettings(transaction, defaultSettings(), store)
    transaction.put('credentials', accessKey, {
      access_key: accessKey,
      secret_key_sealed: store.seal(randomBytes(32).toString('hex'), sealedPlaceOf('credentials', accessKey)),
      label: 'First client',
      enabled: true,
      p2p: true,
      created_at: now,
      rotated_at: now,
    })
    const secrets_sealed = newNodeSecrets(node, store)
    transaction.put('nodes', node.name, { ...node, created_at: now, draining: false, secrets_sealed })
  })
  return { accessKey, nodeName: node.name }
}

/**
 * Reads the site's certificate. If the certificate is unusable, the site does not start, because its ports must not
 * fall back to plain HTTP.
 * @throws RefusalError with the remedy
 */
export async function firstMaterial(
  settings: Settings,
  folder: string,
  logger: Pick<Logger, 'warn'>,
): Promise<TlsMaterial | undefined> {
  try {
    const material = await tlsMaterial(settings, folder)
    if (material?.change !== undefined) logger.warn({ ...material.change }, authorityNotice(material.change))
    return material
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error
    const back = 'Mend the file, or start without a certificate by a site file: {"settings":{"tls":{"mode":"off"}}}.'
    throw new RefusalError(
      { ...error.refusal, message: `${error.message} ${back}` },
      { problems: error.problems, cause: error },
    )
  }
}

/**
 * Returns a line for the log about a firewall that may block other machines; undefined for a site on loopback only.
 * @param hasConsole whether the site's console has a port
 */
export function firewallAdvice(
  { listeners, media }: Pick<Settings, 'listeners' | 'media'>,
  overrides: ListenerOverrides,
  { hasConsole, platform = process.platform }: { hasConsole: boolean; platform?: NodeJS.Platform },
): string | undefined {
  const host = overrides.host ?? listeners.host
  if (!leavesMachine(host)) return undefined
  const open = `Other machines may connect: it listens on ${host}.`
  if (platform === 'win32')
    return `${open} Windows asks whether Roomdesk may communicate on networks: allow private networks, or they cannot reach it.`
  if (platform === 'darwin')
    return `${open} macOS asks whether Roomdesk may accept incoming connections and find devices on the local network: allow both, or they cannot reach it.`
  const portOf = (name: ListenerName): number => overrides[`${name}_port`] ?? listeners[`${name}_port`] ?? 0
  const named = neededPorts({ media }, portOf, hasConsole).map(({ kind, port, use }) => `${kind} ${port} (${use})`)
  return `${open} Where this machine has a firewall, let in ${named.join(', ') || 'the ports that the overview names'}.`
}

import type { Settings } from '../../shared/settings.ts'
import { freshness } from '../console/callers.ts'
import { ChangeRecorder } from '../console/change-recorder.ts'
import { MergedEdits } from '../console/merged-edits.ts'
import type { ConsoleFeed } from '../console/console-feed.ts'
import type { ConsoleKey } from '../console/console-key.ts'
import { createDispatch, type GatedDispatch } from '../console/dispatch.ts'
import { attentionNow, type ConsoleDependencies, consoleHandlers } from '../console/procedures.ts'
import { ControllerWatch, onlyController } from '../console/site-controllers.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import { GatheringSink } from '../event-log/gathering-sink.ts'
import { unproven } from '../gate/gate.ts'
import { boundUrl, listenerUrl, nodeAddressOf, outsideUrl, portOfUrl } from '../edge/network-addresses.ts'
import type { ListenerName, Listeners, Port } from '../http/listeners.ts'
import { formerTls } from '../edge/tls.ts'
import { siteSettings } from '../store/site-settings.ts'
import type { Store } from '../store/store.ts'
import { apiListeners } from './apis.ts'
import { consoleFeed, openConsolePort, provenDispatch } from './console.ts'
import { healthOf } from './health.ts'
import { type Listening, openListening } from './listening.ts'
import { machineReadiness } from './machine-readiness.ts'
import { nodePortOf } from './node-port.ts'
import type { OpenedSite, OpenSite } from './open-site.ts'
import type { ControllerOptions } from './options.ts'
import { siteDiagnostics } from './site-diagnostics.ts'
import { type SitePlayback, sitePlayback } from './playback.ts'
import { PhoneVisits } from '../readiness/phone-check.ts'
import { createServices, type Services } from './services.ts'
import { availableParallelism } from 'node:os'
import type { Machine } from '../console/node-procedures.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'

/** Parts of a controller with the same lifetime. */
export interface ControllerDependencies extends Listening {
  store: Store
  events: SharedEventLog
  /** Membership in a site whose leader may change; undefined: the only controller. */
  leader: OpenedSite | undefined
  services: Services
  dispatch: GatedDispatch
  feed: ConsoleFeed
  controllers: ControllerWatch
  gathering: GatheringSink
  /** Playback of recordings; undefined: the recordings folder is unusable. */
  playback: SitePlayback | undefined
  /** Key of the headless console; undefined on the desktop. */
  consoleKey: ConsoleKey | undefined
}

/** Composes the controller of an open site, without starting anything or opening ports. */
export function composeController(options: ControllerOptions, site: OpenSite): ControllerDependencies {
  const { store, events, stuckDisk, leader } = site
  const { logger } = options
  const settings = (): Settings => siteSettings(store)
  const host = (): string => options.overrides?.host ?? settings().listeners.host
  const linkAddress = (): string => settings().listeners.link_address
  // Services need the addresses of the ports, but the ports are composed after the services.
  const listeners = (): Listening['listeners'] => listening.listeners
  const facts = {
    version: options.version,
    startedAt: Date.now(),
    folder: options.dataFolder,
    databaseRisk: options.databaseRisk,
    key: options.siteKey ?? { place: 'file' as const, file: 'seal.key', unprotected: false, also: '' },
  }
  const visits = new PhoneVisits()
  const gathering = new GatheringSink(events)
  const services = createServices({
    store,
    settings,
    logger,
    media: options.media,
    version: options.version,
    folder: options.dataFolder,
    recordingsDir: options.recordingsDir,
    defaultNodeAddress: (port) =>
      nodeAddressOf(port === 0 ? listeners().url('node') : listenerUrl(host(), port), host(), linkAddress()),
    connections: () => openConnections(listeners(), services.media),
    sitePorts: () => listeners().ports(),
    mediaUrl: () => outsideUrl(listeners().url('media'), host(), linkAddress()),
    playerPage: options.playerPage,
    reached: (visit) => visits.take(visit),
    restarts: options.restarts?.total ?? 0,
    proof: leader?.proof,
    compatibility: options.compatibility,
    passwordCost: options.passwordCost,
    accountClock: options.accountClock,
    events: gathering,
    eventLog: events,
    stuckDisk,
    apiAddresses: () => ({
      media: new URL(listeners().url('media')),
      device: new URL(listeners().url('device')),
      authorities: listening.tls.material?.cert,
    }),
    asSite: (name, input) => gated(name, input, { transport: 'internal', role: 'admin', client: '' }),
    member: leader?.member ?? options.controllers,
    kept: leader?.kept,
  })
  const health = healthOf({ ...facts, ...services, leader, listeners: () => listeners().views() })
  const playback = sitePlayback(services, options, settings, gathering)
  const consolePort = openConsolePort({
    options,
    services,
    // The procedures depend on the console port, and are composed after the port.
    dispatch: unproven('gated inside', (name, input, origin) => gated(name, input, origin)),
    certificate: () => listening.tls.material,
    settings,
    health,
    recordings: playback?.answer,
    signIns: gathering,
    leader,
  })
  const listening = openListening({
    options,
    ports: portsOf(options, services, leader, consolePort?.port),
    material: site.tls,
    leader,
    services,
    events,
    settings,
    host,
  })
  const controllers = new ControllerWatch({
    site:
      leader?.controllers ?? options.controllers ?? onlyController({ ...facts, place: () => listening.place(), store }),
    hub: services.hub,
    sink: events,
  })
  services.metrics.addControllers(controllers.metrics())
  const ready = machineReadiness({ options, listeners: listening.listeners, visits, settings, host, services })
  visits.onArrival((arrival) => services.hub.emit('readiness.phone_arrived', arrival))
  const dependencies: ConsoleDependencies = {
    services,
    dispatch: (name, input, origin) => gated(name, input, origin),
    listeners: listening.listeners,
    tls: listening.tls,
    events,
    machine: machineOf(options, listening.listeners, settings),
    ...ready,
    diagnostics: siteDiagnostics({
      ...{ options, services, settings, listeners: listening.listeners, readiness: ready.readiness },
      attention: () => attentionNow(dependencies),
      startedAt: facts.startedAt,
    }),
    facts,
    controllers,
    restarts: options.restarts?.times ?? [],
    logger,
    exports: playback?.exports,
    replaceKey: consolePort?.replaceKey,
  }
  const dispatch = createDispatch(
    consoleHandlers(dependencies),
    logger,
    {
      changes: new ChangeRecorder(store, events, services.peopleNames),
      edits: new MergedEdits({ store, events, pending: services.pendingEvents }),
    },
    {
      site: () => ({
        settings: settings(),
        node: (name) => store.get('nodes', name),
        linkLifeMs: (roomId) => services.joinLinks.defaultLifeMs(roomId),
      }),
      fresh: freshness(services.accountAccess.accountSessions, consolePort?.key),
    },
  )
  const gated = provenDispatch(store.leadership, dispatch, leader?.askLeader)
  return {
    ...listening,
    store,
    events,
    leader,
    services,
    dispatch: gated,
    feed: consoleFeed(services, events, () => attentionNow(dependencies)),
    controllers,
    gathering,
    playback,
    consoleKey: consolePort?.key,
  }
}

/** Returns the ports by name; the desktop has no console port. */
function portsOf(
  options: ControllerOptions,
  services: Services,
  leader: OpenedSite | undefined,
  consolePort: Port | undefined,
): Partial<Record<ListenerName, Port>> {
  const { proof, kept, passToLeader } = leader ?? {}
  const { media, device } = apiListeners(services, options, {
    passToLeader,
    proof,
    kept,
  })
  const node = nodePortOf({
    ...services,
    logger: options.logger,
    proof,
    formerTls: () => formerTls(siteSettings(services.store), options.dataFolder),
  })
  return {
    ...{ media, device, node, event: services.janusEvents },
    ...(consolePort === undefined ? {} : { console: consolePort }),
  }
}

/** Returns facts about the machine of a controller, for the console. */
function machineOf(
  { cores, overrides = {} }: Pick<ControllerOptions, 'cores' | 'overrides'>,
  listeners: Listeners,
  settings: () => Settings,
): Machine {
  const host = (): string => overrides.host ?? settings().listeners.host
  return {
    eventUrl: () => boundUrl(listeners.url('event'), host()),
    cores: () => cores ?? availableParallelism(),
    host,
    ports: () => listeners.ports(),
    settings,
    nodePort: () => firstPort(portOfUrl(listeners.url('node')), overrides.node_port, settings().listeners.node_port),
  }
}

/** Counts open connections by listener. Connections of additional embedded nodes are added to the node listener. */
async function openConnections(
  listeners: Listeners,
  media: Pick<EmbeddedNodes, 'furtherConnections'> | undefined,
): Promise<Partial<Record<ListenerName, number>>> {
  const [counted, further] = await Promise.all([listeners.connections(), media?.furtherConnections() ?? 0])
  return further === 0 ? counted : { ...counted, node: (counted.node ?? 0) + further }
}

/** Returns the first port number above 0; 0: none. */
function firstPort(...ports: (number | undefined)[]): number {
  return ports.find((port) => port !== undefined && port > 0) ?? 0
}

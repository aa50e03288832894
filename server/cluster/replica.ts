import { deviceOperations } from '../../shared/device-operations.ts'
import { operationsOfOlderClients } from '../../shared/field-operations.ts'
import { mediaOperations } from '../../shared/media-operations.ts'
import type { Settings } from '../../shared/settings.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { ConsoleKey } from '../console/console-key.ts'
import type { SiteControllers } from '../console/site-controllers.ts'
import type { ControllerOptions } from '../controller/options.ts'
import { CertificateWatch } from '../edge/certificate-watch.ts'
import type { KeptPorts } from '../edge/kept-ports.ts'
import { tryPort } from '../edge/listen-error.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import { tlsMaterial, type TlsMaterial } from '../edge/tls.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import { type ListenerName, type ListenerOverrides, Listeners, type Port } from '../http/listeners.ts'
import { compatibilitySwitches, type FixedCompatibility } from '../http/older-clients.ts'
import type { Log } from '../observe/log.ts'
import { clusterTimes } from '../store/election/timings.ts'
import { monotonic, sleepOn } from '../store/system/time.ts'
import type { FollowedSite } from './followed-site.ts'
import type { LeaderResolver } from './leader-resolver.ts'
import { LeaderWatch } from './reachability-watch.ts'
import { replicaConsole } from './replica-console.ts'
import { apiProxyPort, plainProxyPort } from './replica-ports.ts'
import { ReverseProxy } from './reverse-proxy.ts'
import { UpgradeProxy } from './upgrade-proxy.ts'

interface ReplicaRoleDependencies
  extends Pick<ReplicaOptions, 'site' | 'resolver' | 'proof' | 'kept' | 'ports' | 'placed'> {
  controllers: SiteControllers
  consoleKey: ConsoleKey | undefined
  events: SharedEventLog
  tls: TlsMaterial | undefined
  /** Start of the controller, in milliseconds since the epoch. */
  startedAt: number
}

/**
 * The replica role of a controller: its ports, its console, and its checks of the leader. The constructor opens no
 * port.
 */
export class ReplicaRole {
  readonly #replica: Replica
  readonly #watch: LeaderWatch
  readonly #console: ReturnType<typeof replicaConsole> | undefined

  constructor(options: ControllerOptions, dependencies: ReplicaRoleDependencies) {
    const { overrides = {}, compatibility, dataFolder, logger, consolePage: page, version } = options
    const { consoleKey: key, controllers, events, startedAt, ...ports } = dependencies
    const { site, resolver, proof, kept } = ports
    this.#watch = new LeaderWatch(resolver, () => controllers.leader()?.name ?? '', logger)
    this.#console =
      page === undefined || key === undefined
        ? undefined
        : replicaConsole({
            ...{ page, key, site, resolver, proof, kept, controllers, events, version, startedAt, logger },
            restarts: options.restarts?.total ?? 0,
            tls: () => this.tls,
            unreachable: () => this.#watch.lasting,
            counts: () => this.#replica.passOn.counts,
            connections: () => this.listeners.connections(),
          })
    this.#replica = new Replica({ ...ports, overrides, compatibility, dataFolder, console: this.#console, log: logger })
    mustNotFail(this.#watch.run())
  }

  get listeners(): Listeners {
    return this.#replica.listeners
  }

  /** Certificate in use; undefined: plain HTTP. */
  get tls(): TlsMaterial | undefined {
    return this.#replica.tls
  }

  /**
   * Opens the ports.
   * @param nodePortFree resolves when the node port is free; undefined: the port is free now
   * @throws ListenError; in this case, all ports are closed
   */
  async start(nodePortFree?: Promise<unknown>): Promise<void> {
    try {
      await this.#replica.start(nodePortFree)
    } catch (error) {
      this.#endWatches()
      throw error
    }
  }

  /** Leaves the ports to the next role; see `Replica.letGo`. */
  letGo(): Promise<void> {
    this.#endWatches()
    return this.#replica.letGo()
  }

  /** Stops accepting connections, and finishes requests under way within `deadlineMs`. */
  async stop(deadlineMs: number): Promise<void> {
    this.#endWatches()
    await this.#replica.stop(deadlineMs)
  }

  /** Ends at once. */
  abandon(): Promise<void> {
    return this.stop(0)
  }

  #endWatches(): void {
    this.#watch.stop()
    this.#console?.end()
  }
}

interface ReplicaOptions {
  site: FollowedSite
  resolver: LeaderResolver
  proof: RequestProof
  /** Listening ports kept from the previous role of this program, and left for its next role. */
  kept: KeptPorts
  /** Port numbers that the system chose in the previous role. */
  ports: Partial<Record<ListenerName, number>>
  overrides: ListenerOverrides
  compatibility: FixedCompatibility | undefined
  /** Folder of the self-signed certificate of a site. */
  dataFolder: string
  tls: TlsMaterial | undefined
  /** Console port; undefined: no console. */
  console?: Port | undefined
  /** Called when the ports or the certificate of the replica have changed. */
  placed: () => void
  log: Log
}

const noObserver = { observe: (): void => {} }

/** Ports of a replica: they forward requests to the leader. */
class Replica {
  readonly #options: ReplicaOptions
  readonly #upgrades: UpgradeProxy
  readonly #certificate: CertificateWatch
  readonly #stopFollowing: () => void
  readonly #ended = new AbortController()
  readonly listeners: Listeners
  readonly passOn: ReverseProxy
  #tls: TlsMaterial | undefined
  #applying: Promise<void> = Promise.resolve()
  #nodePort: Promise<void> = Promise.resolve()

  constructor(options: ReplicaOptions) {
    const { site, resolver, proof, kept, log, compatibility } = options
    this.#options = options
    this.#tls = options.tls
    this.passOn = new ReverseProxy(resolver, proof)
    this.#upgrades = new UpgradeProxy(resolver, proof)
    const settings = (): Settings => site.settings()
    const switches = () => compatibilitySwitches(settings(), compatibility)
    const api = (name: 'media' | 'device'): Port =>
      apiProxyPort({
        api: name,
        contracts: name === 'media' ? mediaOperations : deviceOperations,
        olderClients: { contracts: operationsOfOlderClients[name], switches },
        settings,
        observer: noObserver,
        passOn: this.passOn,
        proof,
        kept,
        log,
      })
    const plain = { settings, passOn: this.passOn, upgrades: this.#upgrades, proof, log }
    const ports: Partial<Record<ListenerName, Port>> = {
      media: api('media'),
      device: api('device'),
      node: plainProxyPort({ ...plain, listener: 'node' }),
      event: plainProxyPort({ ...plain, listener: 'event', kept }),
      ...(options.console === undefined ? {} : { console: options.console }),
    }
    this.listeners = new Listeners(ports, options.overrides, () => options.placed(), options.ports)
    this.#certificate = new CertificateWatch({
      read: () => tlsMaterial(settings(), options.dataFolder),
      current: () => this.#tls,
      use: async (material) => {
        this.#tls = material
        await this.listeners.secure(material)
        options.placed()
      },
      changed: () => undefined,
      log,
    })
    this.#stopFollowing = site.onChange((changes) => {
      if (changes.some(({ collection }) => collection === 'settings')) this.#apply()
    })
  }

  /** Certificate in use; undefined: plain HTTP. */
  get tls(): TlsMaterial | undefined {
    return this.#tls
  }

  /**
   * Opens the ports.
   * @param free resolves when the embedded node has released the node port, which is opened afterwards; undefined: the
   * port is free now
   * @throws ListenError; in this case, all ports are closed
   */
  async start(free?: Promise<unknown>): Promise<void> {
    const settings = this.#options.site.settings()
    const others = ['media', 'device', 'event', 'console'] as const
    await this.listeners.start(settings, this.#tls, free === undefined ? [...others, 'node'] : others)
    this.#options.placed()
    if (free !== undefined) this.#nodePort = this.#startNodePort(settings, free)
  }

  /**
   * Leaves the listening ports to the next role of this program. Waiting requests are forwarded to the leader.
   * @returns a promise that resolves when the node port is free
   */
  async letGo(): Promise<void> {
    this.#end()
    await Promise.all([this.listeners.letGo(), this.#nodePort])
  }

  /** Stops accepting connections, and finishes requests under way within `deadlineMs`. */
  async stop(deadlineMs: number): Promise<void> {
    this.#end()
    await this.listeners.stop(deadlineMs)
  }

  #end(): void {
    this.#ended.abort()
    this.#stopFollowing()
    this.#certificate.stop()
    this.#upgrades.close()
  }

  async #startNodePort(settings: Settings, free: Promise<unknown>): Promise<void> {
    const { log, overrides, ports } = this.#options
    const host = overrides.host ?? settings.listeners.host
    const wanted = overrides.node_port ?? settings.listeners.node_port
    const port = wanted === 0 ? (ports.node ?? 0) : wanted
    await free
    // Waits for the same port while its previous process ends, so that clients find a server at the known address.
    const end = monotonic() + clusterTimes.nodePort
    while (port !== 0 && !this.#ended.signal.aborted && (await tryPort('node', host, port)) !== undefined) {
      if (monotonic() > end) break
      await sleepOn(clusterTimes.nodePortAgain)
    }
    if (this.#ended.signal.aborted) return
    try {
      await this.listeners.start(settings, this.#tls, ['node'])
      this.#options.placed()
      if (this.#ended.signal.aborted) await this.listeners.letGo()
    } catch (error) {
      log.error({ err: error }, 'the node port could not be opened')
    }
  }

  /** Applies the settings of the site, stored by the leader, to the ports of this replica. */
  #apply(): void {
    this.#applying = this.#applying.then(async () => {
      if (this.#ended.signal.aborted) return
      const { site, dataFolder, log } = this.#options
      try {
        const settings = site.settings()
        const material = await tlsMaterial(settings, dataFolder)
        if (this.#ended.signal.aborted) return
        this.#tls = material
        await this.listeners.apply(settings, material)
        this.#options.placed()
      } catch (error) {
        log.error({ err: error }, 'the settings of the leader cannot be used here: the ports stay as they were')
      }
    })
  }
}

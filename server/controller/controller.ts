import { setTimeout } from 'node:timers/promises'
import type { ConsoleEvent } from '../../shared/console/contract.ts'
import type { ConsoleResult } from '../../shared/console/procedure.ts'
import type { Settings } from '../../shared/settings.ts'
import { apiListeners } from './apis.ts'
import { ConsoleKey } from '../console/console-key.ts'
import type { ConsoleFeed } from '../console/console-feed.ts'
import { onlyController } from '../console/only-controller.ts'
import { ControllerWatch } from '../console/site-controllers.ts'
import type { ControllerOptions } from './options.ts'
import { controllerPlace } from './controller-place.ts'
import { attentionNow, consoleHandlers } from '../console/procedures.ts'
import { createDispatch, type Dispatch } from '../console/dispatch.ts'
import type { CallOrigin } from '../console/handlers.ts'
import { ChangeTeller } from '../console/change-teller.ts'
import type { EventLog } from '../event-log/event-log.ts'
import { GatheringSink } from '../event-log/gathering-sink.ts'
import { ControllerLife } from '../event-log/sources/controller-life.ts'
import { ListenerWatch } from '../event-log/sources/listener-watch.ts'
import type { FirstStart } from './first-start.ts'
import { type Health, siteHealth } from './health.ts'
import { machineOf, openConnections } from './machine.ts'
import { nodePortOf } from './node-port.ts'
import { type ListenerName, Listeners, type Port } from '../http/listeners.ts'
import { listenerUrl, nodeAddressOf, outsideUrl } from '../edge/network-addresses.ts'
import { type LeaderSite, openSite, type OpenSite } from './open-site.ts'
import { confirmedDispatch, consoleFeed, openConsolePort } from './console.ts'
import { createServices, type Services } from './services.ts'
import { resealSecrets } from '../access/reseal-secrets.ts'
import { siteSettings } from '../store/site-settings.ts'
import type { ControllerPlace } from '../store/election/site-member.ts'
import type { Store } from '../store/store.ts'
import { CertificateWatch } from '../edge/certificate-watch.ts'
import { type SiteTls, siteTls, tlsMaterial } from '../edge/tls.ts'

/** What connections and nodes have to end in before the store is closed over them, in milliseconds. */
const cutMs = 1_000
/** What nodes and devices have to end in where another controller leads, in milliseconds. */
const leaveMs = 3_000

/**
 * The whole product without a face: both APIs, their state and the operator's procedures.
 * Large because it still composes all parts of the product in its constructor and starts and ends them; the composition should become functions of its own.
 */
export class Controller {
  readonly #options: ControllerOptions
  readonly #store: Store
  readonly #services: Services
  readonly #listeners: Listeners
  readonly #tls: SiteTls
  readonly #certificate: CertificateWatch
  readonly #dispatch: Dispatch
  readonly #feed: ConsoleFeed
  readonly #events: EventLog
  readonly #controllers: ControllerWatch
  readonly #gathering: GatheringSink
  /** Undefined where it outlives this time as the leader. */
  readonly #life: ControllerLife | undefined
  readonly #led: LeaderSite | undefined
  readonly #listenerWatch: ListenerWatch
  readonly #startedAt = Date.now()
  /** What a first start made; undefined on every later one. */
  readonly firstStart: FirstStart | undefined
  /** Headless only. */
  readonly consoleKey: ConsoleKey | undefined
  #stopping: Promise<void> | undefined
  #resealing: Promise<void> | undefined
  readonly #ending = new AbortController()
  /** Tells the others where this one is reached. */
  readonly #placed: () => void
  /** That another controller leads. */
  #deposed: Error | undefined

  constructor(options: ControllerOptions, { store, events, tls, firstStart, led }: OpenSite) {
    this.#options = options
    this.#led = led
    void led?.store.deposed.then((why) => (this.#deposed = why))
    this.#store = store
    this.#events = events
    this.#gathering = new GatheringSink(events)
    this.#life = led === undefined ? new ControllerLife(events, options.version) : undefined
    this.#listenerWatch = new ListenerWatch(events)
    const place = (): ControllerPlace => controllerPlace(this.#listeners, host(), this.#tls.material ?? led?.proof.tls)
    this.#placed = () => led?.placed(place())
    this.#tls = siteTls(tls, () => this.#certificate.problem, this.#placed)
    this.firstStart = firstStart
    const settings = (): Settings => siteSettings(store)
    const overrides = options.overrides ?? {}
    const host = (): string => overrides.host ?? settings().listeners.host
    this.#services = createServices({
      store,
      settings,
      logger: options.logger,
      media: options.media,
      defaultNodeAddress: (port) =>
        nodeAddressOf(port === 0 ? this.#listeners.url('node') : listenerUrl(host(), port), host()),
      connections: () => openConnections(this.#listeners, this.#services.media),
      sitePorts: () => this.#listeners.ports(),
      mediaUrl: () => outsideUrl(this.#listeners.url('media'), host()),
      restarts: options.restarts?.total ?? 0,
      proof: led?.proof,
      compatibility: options.compatibility,
      passwordCost: options.passwordCost,
      accountClock: options.accountClock,
      events: this.#gathering,
      member: led?.member ?? options.controllers,
      kept: led?.kept,
    })
    const { proof, kept, passToLeader } = led ?? {}
    const confirmed = led === undefined ? undefined : () => led.store.confirmed()
    const api = apiListeners(this.#services, options, { confirmed, passToLeader, proof, kept })
    const ports: Partial<Record<ListenerName, Port>> = {
      media: api.media,
      device: api.device,
      node: nodePortOf({ ...this.#services, logger: options.logger, proof }),
      event: this.#services.janusEvents,
    }
    const { consolePage: page, logger } = options
    this.consoleKey =
      page === undefined
        ? undefined
        : (led?.consoleKey ?? new ConsoleKey(options.dataFolder, (message) => logger.warn(message)))
    const consolePort =
      page === undefined || this.consoleKey === undefined
        ? undefined
        : openConsolePort({
            services: this.#services,
            dispatch: (name, input, origin) => this.#dispatch(name, input, origin),
            key: this.consoleKey,
            page,
            tls: this.#tls,
            settings,
            health: (known) => this.health(known),
            signIns: this.#gathering,
            led,
            logger,
          })
    if (consolePort !== undefined) ports.console = consolePort
    const changed = (): void => {
      this.#services.hub.emit('listeners.changed', {})
      this.#listenerWatch.look(this.#listeners.views())
      // Which ports are the site's is told to the node, which calls none of them.
      this.#services.media?.configure()
      this.#placed()
    }
    this.#listeners = new Listeners(ports, overrides, changed, led?.ports ?? options.restarts?.ports)
    this.#certificate = new CertificateWatch({
      read: () => tlsMaterial(settings(), options.dataFolder),
      current: () => this.#tls.material,
      use: async (material) => {
        this.#tls.material = material
        await this.#listeners.secure(material)
        this.#services.hub.emit('listeners.changed', {})
      },
      changed: () => this.#services.hub.emit('listeners.changed', {}),
      log: options.logger,
      everyMs: options.certificateLookMs,
    })
    const facts = {
      version: options.version,
      startedAt: this.#startedAt,
      folder: options.dataFolder,
      databaseRisk: options.databaseRisk,
      key: options.siteKey ?? { place: 'file', file: 'seal.key', unprotected: false, also: '' },
    }
    this.#controllers = new ControllerWatch({
      site: led === undefined ? (options.controllers ?? onlyController({ ...facts, place, store })) : led.controllers,
      hub: this.#services.hub,
      sink: events,
    })
    this.#services.metrics.addControllers(this.#controllers.metrics())
    const key = this.consoleKey
    const parts = {
      services: this.#services,
      listeners: this.#listeners,
      tls: this.#tls,
      events,
      machine: machineOf(options, this.#listeners, settings),
      facts,
      controllers: this.#controllers,
      restarts: options.restarts?.times ?? [],
      logger: options.logger,
      replaceKey:
        key === undefined
          ? undefined
          : () => {
              const made = key.replace()
              consolePort?.reviewSessions()
              return made
            },
    }
    const dispatch = createDispatch(
      consoleHandlers(parts),
      logger,
      new ChangeTeller(store, events, this.#services.peopleNames),
      { settings, isFresh: (session) => this.#services.accountAccess.accountSessions.isFresh(session) },
    )
    this.#dispatch = confirmed === undefined ? dispatch : confirmedDispatch(dispatch, confirmed)
    this.#feed = consoleFeed(this.#services, events, () => attentionNow(parts))
  }

  /**
   * Opens the site, applies the site file; nothing listens yet.
   * @throws StoreLockedError, StoreVersionError, DatabaseError, ConsoleError (a certificate of the settings cannot be used), or what the file system says
   */
  static async open(options: ControllerOptions): Promise<Controller> {
    return new Controller(options, await openSite(options))
  }

  /** Takes nodes and devices into service and listens. @throws ListenError; then nothing listens and the store is closed */
  async start(): Promise<void> {
    this.#life?.started(this.#options.restarts?.times.at(-1))
    this.#controllers.start()
    try {
      const settings = this.#services.settings()
      // The embedded node is asked how it is, while its port is opened; APIs and console are for when the nodes have answered.
      const nodes = this.#services.start()
      nodes.catch(() => {})
      await this.#listeners.start(settings, this.#tls.material, ['node', 'event'])
      await nodes
      await this.#listeners.start(settings, this.#tls.material, ['media', 'device', 'console'])
      this.#started()
    } catch (error) {
      await this.stop(0)
      throw error
    }
  }

  /**
   * Takes over from the standby that this program was: APIs and console are served at once on the ports that it let go of, nodes and devices are taken into service
   * meanwhile. @param free resolves when the node port is free @throws ListenError; then nothing listens and the store is closed
   */
  async takeOver(free: Promise<void>): Promise<void> {
    this.#controllers.start()
    const settings = this.#services.settings()
    const { logger } = this.#options
    // First, so that whoever needs a node finds that it was not asked yet, rather than none.
    this.#services.start().catch((error: unknown) => logger.error({ err: error }, 'the nodes could not be started'))
    try {
      await this.#listeners.start(settings, this.#tls.material, ['media', 'device', 'console', 'event'])
    } catch (error) {
      await this.stop(0)
      throw error
    }
    this.#started()
    const nodePort = async (): Promise<void> => {
      if (this.#stopping === undefined) await this.#listeners.start(settings, this.#tls.material, ['node'])
      this.#started()
    }
    free.then(nodePort).catch((error: unknown) => logger.error({ err: error }, 'the node port could not be opened'))
  }

  #started(): void {
    this.#resealing ??= resealSecrets(this.#store, this.#ending.signal, this.#options.logger)
    this.#services.media?.configure()
    this.#listenerWatch.look(this.#listeners.views())
    this.#placed()
  }

  /**
   * Ends because another controller leads: the ports are left to the standby that this program becomes, at once.
   * @returns `portsLeft` resolves when the node port is free, too, `ended` when all has ended, `leaveMs` later at most; neither rejects
   */
  leave(): { portsLeft: Promise<unknown>; ended: Promise<void> } {
    const portsLeft = this.#stopping === undefined ? this.#listeners.letGo().catch(() => undefined) : this.#stopping
    this.#stopping ??= this.#leave(portsLeft)
    return { portsLeft, ended: this.#stopping.catch(() => undefined) }
  }

  async #leave(portsLeft: Promise<unknown>): Promise<void> {
    this.#certificate.stop()
    const { logger } = this.#options
    const ended = Promise.allSettled([portsLeft, this.#endParts()])
    await Promise.race([ended, setTimeout(leaveMs)])
    await this.#store.close().catch((error: unknown) => logger.error({ err: error }, 'the store did not end in order'))
  }

  /** Stops accepting, finishes what is in flight within `deadlineMs`, flushes the store. Idempotent. */
  stop(deadlineMs = this.#services.settings().deadlines.shutdown_ms): Promise<void> {
    this.#stopping ??= this.#end(deadlineMs)
    return this.#stopping
  }

  /**
   * Ends at once, for a process whose state may be torn: connections are cut, and the store writes what it owes whatever else fails or hangs.
   * @throws AggregateError of what failed
   */
  async abandon(): Promise<void> {
    this.#stopping ??= this.#cut()
    await this.#stopping
  }

  async #cut(): Promise<void> {
    this.#ending.abort()
    const failures: unknown[] = []
    const attempt = async (end: () => Promise<void>): Promise<void> => {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    const others = [() => this.#listeners.stop(0), () => this.#services.stop()]
    await Promise.race([Promise.all(others.map(attempt)), setTimeout(cutMs)])
    if (this.#led === undefined) await attempt(() => Promise.race([this.#events.close(), setTimeout(cutMs)]))
    await attempt(() => this.#store.close())
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything ended in order.')
  }

  async #end(deadlineMs: number): Promise<void> {
    this.#certificate.stop()
    await this.#listeners.stop(deadlineMs)
    await this.#endParts()
    this.#life?.stopped()
    if (this.#led === undefined) await this.#events.close()
    await this.#store.close()
  }

  async #endParts(): Promise<void> {
    this.#ending.abort()
    this.#feed.stop()
    this.#controllers.stop()
    await this.#services.stop()
    this.#listenerWatch.look(this.#listeners.views())
    this.#gathering.close()
  }

  /** Ports that listen now. */
  ports(): Partial<Record<ListenerName, number>> {
    return this.#listeners.numbers()
  }

  /** Where a listener listens; empty when it does not. */
  url(name: ListenerName): string {
    return this.#listeners.url(name)
  }

  /** Resolves when no secret of an earlier version is left to be sealed for its record, or this controller ends. */
  get sealed(): Promise<void> {
    return this.#resealing ?? Promise.resolve()
  }

  /** Calls a procedure of the console; never rejects. */
  call(name: string, input: unknown, origin: CallOrigin): Promise<ConsoleResult<unknown>> {
    return this.#dispatch(name, input, origin)
  }

  /** Returns the unsubscribe function. */
  onEvent(listener: (event: ConsoleEvent) => void): () => void {
    return this.#services.hub.listen(listener)
  }

  /** Whether the controller can do its work: for `/healthz`. @param known the caller has signed in: they are told what the storage says */
  health(known: boolean): Health {
    return siteHealth({
      known,

      store: this.#store.status(),
      listeners: this.#listeners.views(),
      nodes: this.#services.pool.views(),
      storeMs: this.#services.settings().deadlines.store_ms,
      version: this.#options.version,
      startedAt: this.#startedAt,
      epoch: this.#led?.store.epoch,
      deposed: this.#deposed !== undefined,
    })
  }
}

import type { Role } from '../../shared/domain/roles.ts'
import { resealSecrets } from '../access/reseal-secrets.ts'
import type { ConsoleKey } from '../console/console-key.ts'
import type { GatedDispatch } from '../console/dispatch.ts'
import type { EventHub } from '../console/event-hub.ts'
import { ControllerLife } from '../event-log/sources/controllers.ts'
import type { Listeners } from '../http/listeners.ts'
import type { FaultRules } from '../lab/faults.ts'
import { composeController, type ControllerDependencies } from './composition.ts'
import { type FirstStart, openSite, type OpenSite } from './open-site.ts'
import type { ControllerOptions } from './options.ts'
import { Shutdown } from './shutdown.ts'

/**
 * The whole product without a user interface: both APIs, their state and the operator's procedures. `composition.ts`
 * lists its parts.
 */
export class Controller {
  readonly #options: ControllerOptions
  readonly #dependencies: ControllerDependencies
  readonly #life: ControllerLife | undefined
  readonly shutdown: Shutdown
  readonly listeners: Listeners
  /** Calls a procedure of the console; never rejects. */
  readonly dispatch: GatedDispatch
  /** Events for the console. */
  readonly hub: EventHub
  /** Key of the headless console; undefined on the desktop. */
  readonly consoleKey: ConsoleKey | undefined
  /** Credential and node created by a first start; undefined at every later start. */
  readonly firstStart: FirstStart | undefined
  #resealing: Promise<void> | undefined

  constructor(options: ControllerOptions, site: OpenSite) {
    this.#options = options
    this.firstStart = site.firstStart
    // If the controller may become a replica, `SiteController` records the starts and ends.
    this.#life = site.leader === undefined ? new ControllerLife(site.events, options.version) : undefined
    this.#dependencies = composeController(options, site)
    this.listeners = this.#dependencies.listeners
    this.dispatch = this.#dependencies.dispatch
    this.hub = this.#dependencies.services.hub
    this.consoleKey = this.#dependencies.consoleKey
    this.shutdown = new Shutdown(this.#dependencies, this.#life, options.logger)
  }

  /**
   * Opens the site and applies the site file, without opening ports.
   * @throws StoreLockedError, StoreVersionError, DatabaseError, RefusalError (a certificate of the settings is
   * unusable), or errors of the file system
   */
  static async open(options: ControllerOptions): Promise<Controller> {
    return new Controller(options, await openSite(options))
  }

  /**
   * Starts nodes and devices and opens the ports. @throws ListenError; in this case, all ports and the store are closed
   */
  async start(): Promise<void> {
    const { services, controllers, listeners, tls } = this.#dependencies
    this.#life?.started(this.#options.restarts?.times.at(-1))
    controllers.start()
    try {
      const settings = services.settings()
      // The node port opens while the embedded node starts; APIs and console open once the nodes have responded.
      const nodes = services.start()
      // The promise is awaited later; until then a failure must not count as unhandled.
      nodes.catch(() => {})
      await listeners.start(settings, tls.material, ['node', 'event'])
      await nodes
      await listeners.start(settings, tls.material, ['media', 'device', 'console'])
      this.#started()
    } catch (error) {
      await this.stop(0)
      throw error
    }
  }

  /**
   * Takes over from the replica that ran in this program. Opens APIs and console at once, on the ports released by the
   * replica, and starts nodes and devices in parallel.
   * @param free resolves when the node port is free
   * @throws ListenError; in this case, all ports and the store are closed
   */
  async takeOver(free: Promise<void>): Promise<void> {
    const { services, controllers, listeners, tls } = this.#dependencies
    const { logger } = this.#options
    controllers.start()
    const settings = services.settings()
    // Starts the services before the ports open, so that a call that needs a node waits for the node's first response
    // instead of failing.
    services.start().catch((error: unknown) => logger.error({ err: error }, 'the nodes could not be started'))
    try {
      await listeners.start(settings, tls.material, ['media', 'device', 'console', 'event'])
    } catch (error) {
      await this.stop(0)
      throw error
    }
    this.#started()
    const nodePort = async (): Promise<void> => {
      if (!this.shutdown.begun) await listeners.start(settings, tls.material, ['node'])
      this.#started()
    }
    free.then(nodePort).catch((error: unknown) => logger.error({ err: error }, 'the node port could not be opened'))
  }

  #started(): void {
    const { store, services, listeners, listenerWatch, announce } = this.#dependencies
    this.#resealing ??= resealSecrets(store, this.shutdown.signal, this.#options.logger)
    services.media?.configure()
    listenerWatch.look(listeners.views())
    announce()
    // Restoring settings may apply listeners, so the ports must be open.
    services.scenarios.resume()
  }

  /** Stops accepting requests, completes requests in flight within `deadlineMs`, and flushes the store. Idempotent. */
  stop(deadlineMs = this.#dependencies.services.settings().deadlines.shutdown_ms): Promise<void> {
    return this.shutdown.stop(deadlineMs)
  }

  /** Ends at once; see `Shutdown.abandon`. */
  abandon(): Promise<void> {
    return this.shutdown.abandon()
  }

  /** Number of people in rooms. */
  get people(): number {
    return this.#dependencies.services.pool.presence.totals().people
  }

  /** Fault rules of the lab. */
  get faults(): FaultRules {
    return this.#dependencies.services.faults
  }

  /**
   * Resolves when all secrets sealed by an earlier version have been sealed again for their records, or this controller
   * ends.
   */
  get sealed(): Promise<void> {
    return this.#resealing ?? Promise.resolve()
  }

  /** Answers a request below `/recordings/` from the window of the desktop application. */
  async playRecording(request: Request, role: Role): Promise<Response> {
    const { playback } = this.#dependencies
    if (playback === undefined) return new Response(null, { status: 404 })
    return await playback.answer(request, { role, account: '', accountId: '', address: '', scoped: true })
  }
}

import type { ConsoleEvent } from '../../shared/console/contract.ts'
import type { ConsoleResult } from '../../shared/domain/outcome.ts'
import type { Role } from '../../shared/domain/roles.ts'
import { resealSecrets } from '../access/reseal-secrets.ts'
import type { ConsoleKey } from '../console/console-key.ts'
import type { CallOrigin } from '../console/handlers.ts'
import { ControllerLife } from '../event-log/sources/controllers.ts'
import type { ListenerName } from '../http/listeners.ts'
import { composeController, type ControllerParts } from './composition.ts'
import type { FirstStart } from './first-start.ts'
import type { Health } from './health.ts'
import { openSite, type OpenSite } from './open-site.ts'
import type { ControllerOptions } from './options.ts'
import { Shutdown } from './shutdown.ts'

/** The whole product without a face: both APIs, their state and the operator's procedures. `composition.ts` says what it is made of. */
export class Controller {
  readonly #options: ControllerOptions
  readonly #parts: ControllerParts
  readonly #life: ControllerLife | undefined
  readonly #shutdown: Shutdown
  /** Credential and node that a first start made; undefined on every later one. */
  readonly firstStart: FirstStart | undefined
  #resealing: Promise<void> | undefined

  constructor(options: ControllerOptions, site: OpenSite) {
    this.#options = options
    this.firstStart = site.firstStart
    // The program of a controller that could be a replica records its life itself.
    this.#life = site.leader === undefined ? new ControllerLife(site.events, options.version) : undefined
    this.#parts = composeController(options, site)
    this.#shutdown = new Shutdown(this.#parts, this.#life, options.logger)
  }

  /**
   * Opens the site, applies the site file; nothing listens yet.
   * @throws StoreLockedError, StoreVersionError, DatabaseError, RefusalError (a certificate of the settings cannot be used), or errors of the file system
   */
  static async open(options: ControllerOptions): Promise<Controller> {
    return new Controller(options, await openSite(options))
  }

  /** Key of the headless console; undefined on the desktop. */
  get consoleKey(): ConsoleKey | undefined {
    return this.#parts.consoleKey
  }

  /** Takes nodes and devices into service and listens. @throws ListenError; then nothing listens and the store is closed */
  async start(): Promise<void> {
    const { services, controllers, listeners, tls } = this.#parts
    this.#life?.started(this.#options.restarts?.times.at(-1))
    controllers.start()
    try {
      const settings = services.settings()
      // The node port opens while the embedded node starts; APIs and console open once the nodes have answered.
      const nodes = services.start()
      // It is awaited later; until then a failure must not count as unhandled.
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
   * Takes over from the replica that this program was: opens APIs and console at once on the ports that the replica let go of, and takes nodes and devices into service
   * meanwhile. @param free resolves when the node port is free @throws ListenError; then nothing listens and the store is closed
   */
  async takeOver(free: Promise<void>): Promise<void> {
    const { services, controllers, listeners, tls } = this.#parts
    const { logger } = this.#options
    controllers.start()
    const settings = services.settings()
    // Before the ports open: a call that needs a node then waits for its first answer, and does not find that there is none.
    services.start().catch((error: unknown) => logger.error({ err: error }, 'the nodes could not be started'))
    try {
      await listeners.start(settings, tls.material, ['media', 'device', 'console', 'event'])
    } catch (error) {
      await this.stop(0)
      throw error
    }
    this.#started()
    const nodePort = async (): Promise<void> => {
      if (!this.#shutdown.begun) await listeners.start(settings, tls.material, ['node'])
      this.#started()
    }
    free.then(nodePort).catch((error: unknown) => logger.error({ err: error }, 'the node port could not be opened'))
  }

  #started(): void {
    const { store, services, listeners, listenerWatch, announce } = this.#parts
    this.#resealing ??= resealSecrets(store, this.#shutdown.signal, this.#options.logger)
    services.media?.configure()
    listenerWatch.look(listeners.views())
    announce()
  }

  /**
   * Ends because another controller leads: leaves the ports to the replica that this program becomes, at once.
   * @returns `portsLeft` resolves when the node port is free, too, `ended` when all has ended, 3 s later at most; neither rejects
   */
  leave(): { portsLeft: Promise<unknown>; ended: Promise<void> } {
    return this.#shutdown.leave()
  }

  /** Stops accepting, finishes what is in flight within `deadlineMs`, flushes the store. Idempotent. */
  stop(deadlineMs = this.#parts.services.settings().deadlines.shutdown_ms): Promise<void> {
    return this.#shutdown.stop(deadlineMs)
  }

  /**
   * Ends at once, for a process whose state may be torn: cuts connections; the store writes what it owes whatever else fails or hangs.
   * @throws AggregateError of what failed
   */
  async abandon(): Promise<void> {
    await this.#shutdown.abandon()
  }

  /** Ports that listen now. */
  ports(): Partial<Record<ListenerName, number>> {
    return this.#parts.listeners.numbers()
  }

  /** Number of people in rooms. */
  get people(): number {
    return this.#parts.services.pool.totals().people
  }

  /** URL of a listener; empty when it does not listen. */
  url(name: ListenerName): string {
    return this.#parts.listeners.url(name)
  }

  /** Resolves when no secret of an earlier version is left to be sealed for its record, or this controller ends. */
  get sealed(): Promise<void> {
    return this.#resealing ?? Promise.resolve()
  }

  /** Calls a procedure of the console; never rejects. */
  call(name: string, input: unknown, origin: CallOrigin): Promise<ConsoleResult<unknown>> {
    return this.#parts.dispatch(name, input, origin)
  }

  /** Answers a request below `/recordings/` of the desktop's own window. */
  async playRecording(request: Request, role: Role): Promise<Response> {
    const { playback } = this.#parts
    if (playback === undefined) return new Response(null, { status: 404 })
    return await playback.answer(request, { role, account: '', accountId: '', address: '', scoped: true })
  }

  /** Returns the unsubscribe function. */
  onEvent(listener: (event: ConsoleEvent) => void): () => void {
    return this.#parts.services.hub.listen(listener)
  }

  /** Whether the controller can do its work: for `/healthz`. @param known the caller has signed in: the answer may hold paths and addresses */
  health(known: boolean): Health {
    return this.#parts.health(known)
  }
}

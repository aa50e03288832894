import { mustNotFail } from '../../shared/unawaited.ts'
import type { ConsoleKey } from '../console/console-key.ts'
import type { SiteControllers } from '../console/site-controllers.ts'
import type { ControllerOptions } from '../controller/options.ts'
import type { TlsMaterial } from '../edge/tls.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { Listeners } from '../http/listeners.ts'
import { LeaderWatch } from './leader-watch.ts'
import { replicaConsole } from './replica-console.ts'
import { Replica, type ReplicaOptions } from './replica.ts'

export interface ReplicaRoleDependencies
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

import { sleep } from '../../shared/sleep.ts'
import type { Logger } from 'pino'
import type { ControllerLife } from '../event-log/sources/controllers.ts'
import type { ControllerDependencies } from './composition.ts'

/** Maximum time for closing connections and nodes before the store is closed, in milliseconds. */
const cutMs = 1_000
/** Maximum time for stopping nodes and devices once another controller is the leader, in milliseconds. */
const leaveMs = 3_000

/** Ends a controller in one of three ways; the first call decides which. */
export class Shutdown {
  readonly #dependencies: ControllerDependencies
  readonly #life: ControllerLife | undefined
  readonly #log: Pick<Logger, 'error'>
  readonly #ending = new AbortController()
  #ended: Promise<void> | undefined

  /** @param life recorder of starts and ends; undefined if the controller continues as a replica, or was a replica */
  constructor(dependencies: ControllerDependencies, life: ControllerLife | undefined, log: Pick<Logger, 'error'>) {
    this.#dependencies = dependencies
    this.#life = life
    this.#log = log
  }

  get begun(): boolean {
    return this.#ended !== undefined
  }

  /** Signal that aborts when the services begin to end. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Ends gracefully. @param deadlineMs time for running calls */
  stop(deadlineMs: number): Promise<void> {
    this.#ended ??= this.#stop(deadlineMs)
    return this.#ended
  }

  /**
   * Ends because another controller is the leader: immediately releases the ports to the replica that this program
   * becomes.
   * @returns `portsLeft` resolves when the node port is free, too; `ended` when all work has ended, after at most 3 s;
   * neither rejects
   */
  leave(): { portsLeft: Promise<unknown>; ended: Promise<void> } {
    // Ports that cannot be released are closed with the process.
    const portsLeft = this.#ended ?? this.#dependencies.listeners.letGo().catch(() => undefined)
    this.#ended ??= this.#leave(portsLeft)
    // The caller of an earlier `stop` or `abandon` receives its error; `#leave` logs its own errors.
    return { portsLeft, ended: this.#ended.catch(() => undefined) }
  }

  /**
   * Ends at once, for a process whose state may be inconsistent: closes all connections. The store still writes pending
   * changes, even if other parts fail or hang.
   * @throws AggregateError of all errors
   */
  abandon(): Promise<void> {
    this.#ended ??= this.#cut()
    return this.#ended
  }

  async #stop(deadlineMs: number): Promise<void> {
    const { certificate, listeners, leader, events, store } = this.#dependencies
    certificate.stop()
    await listeners.stop(deadlineMs)
    await this.#endParts()
    this.#life?.stopped()
    if (leader === undefined) await events.close()
    await store.close()
  }

  async #leave(portsLeft: Promise<unknown>): Promise<void> {
    const { certificate, store } = this.#dependencies
    certificate.stop()
    const ended = Promise.allSettled([portsLeft, this.#endParts()])
    await Promise.race([ended, sleep(leaveMs)])
    await store.close().catch((error: unknown) => this.#log.error({ err: error }, 'the store did not end in order'))
  }

  async #cut(): Promise<void> {
    const { listeners, services, leader, events, store } = this.#dependencies
    this.#ending.abort()
    const failures: unknown[] = []
    const attempt = async (end: () => Promise<void>): Promise<void> => {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    const others = [() => listeners.stop(0), () => services.stop()]
    await Promise.race([Promise.all(others.map(attempt)), sleep(cutMs)])
    if (leader === undefined) await attempt(() => Promise.race([events.close(), sleep(cutMs)]))
    await attempt(() => store.close())
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything ended in order.')
  }

  async #endParts(): Promise<void> {
    const { feed, controllers, services, playback, listeners, listenerWatch, gathering } = this.#dependencies
    this.#ending.abort()
    feed.stop()
    controllers.stop()
    await playback?.exports.stop()
    await services.stop()
    listenerWatch.look(listeners.views())
    gathering.close()
  }
}

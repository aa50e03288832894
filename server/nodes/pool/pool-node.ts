import type { Deadline } from '../../../shared/deadline.ts'
import type { StoredNode } from '../../store/records.ts'
import type { PoolContext } from './state/pool-context.ts'
import type { HealthState, LiveNode } from './state/live-node.ts'
import { DeadlineError, OpenCalls, within } from '../port/deadline.ts'
import { guarded } from '../port/node-failure.ts'
import { HealthMonitor } from './health-monitor.ts'
import { Steadiness } from './state/steadiness.ts'
import { type MediaNode, NodeConnectionError, type NodeEvent } from '../port/media-node-port.ts'
import { NodePlacement } from './placement/node-placement.ts'

export interface PoolNodeListener {
  onState(node: LiveNode, state: HealthState, error: unknown): void
  onHealthy(node: LiveNode): void
  onFailure(node: LiveNode, error: unknown): void
  onEvent(node: LiveNode, event: NodeEvent): void
}

export interface PoolNodeOptions {
  config: StoredNode
  driver: MediaNode
  context: PoolContext
  /** See PlacedNode. */
  resumes: boolean
  listener: PoolNodeListener
}

/** One enabled node: its driver, its health, and its rooms. */
export class PoolNode implements LiveNode {
  readonly name: string
  readonly driver: MediaNode
  readonly health: HealthMonitor
  readonly placement: NodePlacement
  readonly resumes: boolean
  /** Current record. Changes that require another driver create another PoolNode instead. */
  config: StoredNode
  /** Whether every movable room was removed since the node started to drain. */
  drained = false
  /** Whether the node is going out of service: its rooms move to other nodes, and it gets no new rooms. */
  leaving = false
  /** Resolves when the first poll has ended; undefined afterwards. */
  firstPoll: Promise<void> | undefined
  /** History of the node's losses, which shows whether it is likely to stay online. */
  readonly steadiness: Steadiness

  readonly #context: PoolContext
  readonly #calls = new OpenCalls()
  readonly #unsubscribe: () => void
  /** Start of the last call without an answer, on the clock of `performance.now()`. */
  #unansweredAt = Number.NEGATIVE_INFINITY

  constructor(options: PoolNodeOptions) {
    const { config, driver, context, listener } = options
    this.name = config.name
    this.config = config
    this.driver = driver
    this.resumes = options.resumes
    this.#context = context
    this.placement = new NodePlacement(this, context)
    this.steadiness = new Steadiness(context.now)
    this.health = new HealthMonitor({
      ask: (signal) => driver.health(signal),
      deadlines: context.deadlines,
      onState: (state, error) => {
        if (state === 'offline') this.steadiness.lost()
        this.#guarded(() => listener.onState(this, state, error))
        // Pending calls fail before their deadlines, so that another node can be used.
        if (state === 'offline')
          this.#calls.endAll(new NodeConnectionError('the node does not answer', { cause: error }))
      },
      onHealthy: () => {
        this.steadiness.back()
        this.#guarded(() => listener.onHealthy(this))
      },
      onFailure: (error) => this.#guarded(() => listener.onFailure(this, error)),
    })
    this.#unsubscribe = driver.onEvent((event) => this.#guarded(() => listener.onEvent(this, event)))
  }

  /**
   * Runs a listener, and logs its exception: events come from timers and sockets, where no caller handles exceptions.
   */
  #guarded(run: () => void): void {
    guarded(this.#context.logger, 'what a node told was not taken', run)
  }

  get online(): boolean {
    return this.health.state === 'online'
  }

  /** Whether requests about rooms may be sent to the node. */
  get serving(): boolean {
    return this.online && !this.leaving
  }

  /** Whether new rooms may be placed on the node. */
  get takesRooms(): boolean {
    return this.serving && !this.config.draining
  }

  /** Whether the node answered the last call, and was not lost recently. Unreliable nodes are chosen last. */
  get reliable(): boolean {
    const { failing, lastSuccess } = this.health
    return !failing && lastSuccess > this.#unansweredAt && this.steadiness.steady
  }

  get idcCode(): string {
    return this.config.idc_code
  }

  get weight(): number {
    return this.config.weight
  }

  get maxRooms(): number {
    return this.config.max_rooms
  }

  get maxUsers(): number {
    return this.config.max_users
  }

  get rooms(): number {
    return this.#context.index.load(this.name)
  }

  get users(): number {
    return this.#context.presence.usersOn(this.name)
  }

  get expected(): number {
    return this.#context.expected.on(this.name)
  }

  /**
   * Records a call without an answer: polls the node, which gets no new rooms before it answers.
   * @param since start of the call; default: now
   */
  unanswered(since = performance.now()): void {
    if (since > this.health.lastSuccess) this.#unansweredAt = Math.max(this.#unansweredAt, since)
    this.health.pollSoon()
  }

  /**
   * Makes one call to the driver. If the failure indicates a lost node, the node is polled at once.
   * @throws DeadlineError, NodeError, DeviceJoinError, the signal's reason
   */
  async ask<T>(
    { leftMs: milliseconds, signal }: Deadline,
    run: (driver: MediaNode, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now()
    try {
      return await within({ milliseconds, signal, openCalls: this.#calls }, (inner) => run(this.driver, inner))
    } catch (error) {
      if (error instanceof DeadlineError) {
        this.unanswered(startedAt)
        // A deadline shorter than that of a poll is no evidence: the node may be busy.
        if (error.waited >= this.#context.deadlines().health_ms) this.health.unanswered(startedAt, error)
      }
      if (error instanceof NodeConnectionError) this.health.pollSoon()
      throw error
    }
  }

  /**
   * Ends polls, pending calls and the driver.
   * @throws DeadlineError if the driver does not close within `milliseconds`; the error of the driver
   */
  async close(milliseconds: number): Promise<void> {
    this.#unsubscribe()
    this.health.stop()
    this.placement.forget()
    this.#calls.endAll(new NodeConnectionError('the node was taken out of service'))
    await within({ milliseconds }, () => this.driver.close())
  }
}

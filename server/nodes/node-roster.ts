import type { NodeState } from '../../shared/node.ts'
import type { StoredNode } from '../store/records.ts'
import { makeDriver, needsNewDriver, type NodeDrivers } from './node-driver.ts'
import { describeFailure } from './node-failure.ts'
import type { PoolContext } from './pool-context.ts'
import { PoolNode, type PoolNodeListener } from './pool-node.ts'

/** What was last told of a node's state. */
export interface Announcement {
  state: NodeState
  /** In plain words; empty unless offline. */
  error: string
  /** When the state began, milliseconds since the epoch. */
  since: number
}

/** Keeps the nodes in service equal to the stored ones: a driver for each enabled node, another when what it reads changes, none when it is disabled or removed. */
export class NodeRoster {
  readonly #context: PoolContext
  readonly #drivers: NodeDrivers
  readonly #listener: PoolNodeListener
  readonly #closeWithin: () => number
  readonly #announced = new Map<string, Announcement>()
  /** Why a node is offline, by name. */
  readonly #errors = new Map<string, string>()
  /** Drivers that are closing, by name: the next driver of that node waits. */
  readonly #stopping = new Map<string, Promise<void>>()
  readonly #firstPolls = new Set<Promise<void>>()
  #inService = false

  constructor(context: PoolContext, drivers: NodeDrivers, listener: PoolNodeListener, closeWithin: () => number) {
    this.#context = context
    this.#drivers = drivers
    this.#listener = listener
    this.#closeWithin = closeWithin
  }

  /** Takes every enabled node into service; resolves when each was polled once. */
  async start(): Promise<void> {
    this.#inService = true
    for (const name of this.#context.store.all('nodes').keys()) this.follow(name)
    await Promise.all(this.#firstPolls)
  }

  /** Takes every node out of service; resolves when their drivers are closed. */
  async stop(): Promise<void> {
    this.#inService = false
    for (const node of [...this.#context.live.values()]) this.#stop(node)
    await Promise.all(this.#stopping.values())
  }

  /** The record of the node may have changed: follows it. Does nothing before the start and after the stop. */
  follow(name: string): void {
    if (!this.#inService || this.#stopping.has(name)) return
    const { store, live } = this.#context
    const config = store.get('nodes', name)
    const node = live.get(name)
    const wanted = config?.enabled ? config : undefined
    if (node !== undefined && (wanted === undefined || needsNewDriver(node.config, wanted))) {
      this.#stop(node)
    } else if (node !== undefined && wanted !== undefined) {
      if (wanted.draining !== node.config.draining) node.drained = false
      node.config = wanted
    } else if (wanted !== undefined) {
      this.#start(wanted)
    }
    this.announce(name)
  }

  /** Notes why a node is offline (an empty text: it is not), and tells its state. */
  note(node: PoolNode, error: unknown): void {
    if (error === undefined) this.#errors.delete(node.name)
    else this.#errors.set(node.name, describeFailure(error))
    this.announce(node.name)
  }

  /** Tells the node's state if it is another than before. */
  announce(name: string): void {
    const { store, events, clock } = this.#context
    const config = store.get('nodes', name)
    if (config === undefined) {
      this.#errors.delete(name)
      if (this.#announced.delete(name)) events.emit({ type: 'nodeRemoved', name })
      return
    }
    const state = this.#stateOf(config)
    const error = state === 'offline' ? (this.#errors.get(name) ?? '') : ''
    const before = this.#announced.get(name)
    if (before?.state === state && before.error === error) return
    this.#announced.set(name, { state, error, since: before?.state === state ? before.since : clock() })
    events.emit({ type: 'nodeState', name, state, error })
  }

  /** What was last told of the node. */
  stateOf(name: string): Announcement | undefined {
    return this.#announced.get(name)
  }

  #stateOf(config: StoredNode): NodeState {
    if (!config.enabled) return 'disabled'
    const health = this.#context.live.get(config.name)?.health.state ?? 'connecting'
    return health === 'online' && config.draining ? 'draining' : health
  }

  #start(config: StoredNode): void {
    const { live, logger } = this.#context
    const driver = makeDriver(this.#drivers, config, logger)
    const node = new PoolNode({ config, driver, context: this.#context, listener: this.#listener })
    live.set(config.name, node)
    const firstPoll = node.health.start().finally(() => this.#firstPolls.delete(firstPoll))
    this.#firstPolls.add(firstPoll)
  }

  #stop(node: PoolNode): void {
    const { live, logger, presence, events } = this.#context
    const { name } = node
    live.delete(name)
    this.#errors.delete(name)
    const stopped = node
      .close(this.#closeWithin())
      .catch((error: unknown) => logger.warn({ node: name, err: error }, 'the driver of a node did not close in time'))
      .then(() => {
        this.#stopping.delete(name)
        this.follow(name)
      })
    this.#stopping.set(name, stopped)
    for (const roomId of presence.roomsOn(name)) {
      events.emitDepartures(name, presence.clear(roomId), 'The MCU was taken out of service.')
    }
  }
}

import { Deadline } from '../../../shared/deadline.ts'
import { pause } from '../../../shared/sleep.ts'
import type { StoredNode } from '../../store/records.ts'
import { within } from '../port/deadline.ts'
import { makeDriver, needsNewDriver, type NodeDrivers, outlivesController } from '../port/node-driver.ts'
import type { NodeAnnouncements } from './site-nodes.ts'
import type { LiveNode } from './state/live-node.ts'
import type { PoolContext } from './state/pool-context.ts'
import { type LeftRoom, roomsInUse } from './choice/relocation.ts'
import { PoolNode, type PoolNodeListener } from './pool-node.ts'

export interface RosterListener extends PoolNodeListener {
  /**
   * Called when a node with people in these rooms goes out of service. Resolves when the rooms are on other nodes, if
   * possible; never rejects.
   */
  onLeaving(rooms: readonly LeftRoom[]): Promise<void>
}

export interface RosterOptions {
  context: PoolContext
  drivers: NodeDrivers
  listener: RosterListener
  announcements: NodeAnnouncements
}

/**
 * Time for which a leaving node stays up, in milliseconds: its people request the address of their next node from it.
 */
const lingerMs = 2_000

/**
 * Keeps the nodes in service equal to the stored nodes. Each enabled node has a driver. The driver is replaced if a
 * field that it reads changes, and closed if the node is disabled or removed.
 */
export class NodeRoster {
  readonly #context: PoolContext
  readonly #drivers: NodeDrivers
  readonly #listener: RosterListener
  readonly #announcements: NodeAnnouncements
  /** Drivers being closed, by name. The next driver of the same node is created afterwards. */
  readonly #stopping = new Map<string, Promise<void>>()
  readonly #firstPolls = new Set<Promise<void>>()
  /** Controllers that stop the emptying of a node that goes out of service, by the node's name. */
  readonly #leaving = new Map<string, AbortController>()
  #inService = false
  /** Whether `start` is taking the stored nodes into service. */
  #starting = false

  constructor({ context, drivers, listener, announcements }: RosterOptions) {
    this.#context = context
    this.#drivers = drivers
    this.#listener = listener
    this.#announcements = announcements
  }

  /** Takes every enabled node into service. Resolves when each node was polled once. */
  async start(): Promise<void> {
    this.#inService = true
    this.#starting = true
    for (const name of this.#context.store.all('nodes').keys()) this.follow(name)
    this.#starting = false
    await Promise.all(this.#firstPolls)
  }

  /** Takes every node out of service. Resolves when their drivers are closed. */
  async stop(): Promise<void> {
    this.#inService = false
    for (const leaving of this.#leaving.values()) leaving.abort(new Error('the node pool was stopped'))
    for (const node of [...this.#context.live.values()]) this.#stop(node)
    await Promise.all(this.#stopping.values())
  }

  /** Applies the node's record, which may have changed. Does nothing before `start` and after `stop`. */
  follow(name: string): void {
    if (!this.#inService) return
    const { store, live } = this.#context
    const config = store.get('nodes', name)
    const node = live.get(name)
    const wanted = config?.enabled ? config : undefined
    if (this.#stopping.has(name)) {
      // The node was enabled again: it keeps its rooms, and starts again if its driver was closed.
      if (wanted !== undefined) this.#leaving.get(name)?.abort(new Error('the node is wanted again'))
      return this.#announcements.announce(name)
    }
    if (node !== undefined && wanted === undefined) {
      this.#leave(node)
    } else if (node !== undefined && wanted !== undefined && needsNewDriver(node.config, wanted)) {
      this.#stop(node)
    } else if (node !== undefined && wanted !== undefined) {
      if (wanted.draining !== node.config.draining) node.drained = false
      node.config = wanted
    } else if (wanted !== undefined) {
      this.#start(wanted)
    }
    this.#announcements.announce(name)
  }

  #start(config: StoredNode): void {
    const { live, logger } = this.#context
    const driver = makeDriver(this.#drivers, config, logger)
    const resumes = this.#starting && outlivesController(config)
    const node = new PoolNode({ config, driver, context: this.#context, resumes, listener: this.#listener })
    live.set(config.name, node)
    const firstPoll = node.health.start().finally(() => {
      node.firstPoll = undefined
      this.#firstPolls.delete(firstPoll)
    })
    node.firstPoll = firstPoll
    this.#firstPolls.add(firstPoll)
  }

  /**
   * Takes a node out of service. Its people are notified, and its rooms move to other nodes before the driver is
   * closed.
   */
  #leave(node: LiveNode): void {
    const { name } = node
    const rooms = roomsInUse(this.#context, name)
    node.leaving = true
    this.#clear(name)
    this.#announcements.clearError(name)
    if (!node.online) return this.#stop(node)
    const stopper = new AbortController()
    this.#leaving.set(name, stopper)
    const left = this.#empty(node, rooms, stopper.signal)
      .catch((error: unknown) =>
        this.#context.logger.error({ node: name, err: error }, 'a node that goes out of service was not emptied'),
      )
      .then(() => {
        this.#leaving.delete(name)
        if (this.#context.live.get(name) === node) this.#stop(node)
        return this.#stopping.get(name)
      })
    this.#stopping.set(name, left)
  }

  /**
   * Moves the node's rooms to other nodes, then closes every room. Takes at most twice the deadline of a node's answer,
   * and `lingerMs` more if people were there.
   */
  async #empty(node: LiveNode, rooms: readonly LeftRoom[], signal: AbortSignal): Promise<void> {
    const milliseconds = this.#context.deadlines().node_ms
    const moved = this.#listener.onLeaving(rooms)
    // If a room finds no node in time, the other rooms are closed without waiting for it.
    await within({ milliseconds, signal }, () => moved).catch(() => undefined)
    await node.placement.closeAll(Deadline.in(milliseconds, signal))
    if (rooms.length === 0 || signal.aborted) return
    await pause(lingerMs, { signal, ref: false })
  }

  #stop(node: LiveNode): void {
    const { live, logger, deadlines } = this.#context
    const { name } = node
    live.delete(name)
    this.#announcements.clearError(name)
    const stopped = node
      .close(deadlines().shutdown_ms)
      .catch((error: unknown) => logger.warn({ node: name, err: error }, 'the driver of a node did not close in time'))
      .then(() => {
        this.#stopping.delete(name)
        this.follow(name)
      })
    this.#stopping.set(name, stopped)
    this.#clear(name)
  }

  /** Removes all users of the node. */
  #clear(name: string): void {
    const { presence, events } = this.#context
    for (const roomId of presence.roomsOn(name)) {
      events.emitDepartures(name, presence.clear(roomId, name), 'The MCU was taken out of service.')
    }
  }
}

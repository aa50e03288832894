import { describeFailure } from '../node-failure.ts'
import { type PoolContext, roomHeldBy } from '../pool-context.ts'
import type { PoolNode } from '../pool-node.ts'
import { inSlices } from '../slices.ts'

/** How many leftovers are closed together. */
const sliceSize = 16

/** Closes rooms on nodes: now for a caller, or in the background for rooms that a node holds and must not. */
export class RoomCloser {
  readonly #context: PoolContext
  /** Nodes whose leftovers are being closed. */
  readonly #working = new Set<PoolNode>()
  readonly #stopper = new AbortController()

  constructor(context: PoolContext) {
    this.#context = context
  }

  stop(): void {
    this.#stopper.abort(new Error('the node pool was stopped'))
  }

  /**
   * Closes the room on the node now; everybody in it has left. When it fails, it is tried again in the background.
   * @throws DeadlineError, NodeError, the signal's reason
   */
  async now(node: PoolNode, roomId: string, signal?: AbortSignal): Promise<void> {
    node.opened.delete(roomId)
    node.leftovers.delete(roomId)
    const call = node.ask(this.#context.deadlines().node_ms, signal, (driver, inner) => driver.closeRoom(roomId, inner))
    node.closing.set(roomId, call)
    try {
      await call
    } catch (error) {
      node.leftovers.add(roomId)
      throw error
    } finally {
      if (node.closing.get(roomId) === call) node.closing.delete(roomId)
    }
    this.empty(node, roomId)
  }

  /** The room is to go from the node, as soon as the node answers. */
  later(node: PoolNode, roomId: string): void {
    node.opened.delete(roomId)
    if (!node.online) return
    node.leftovers.add(roomId)
    this.work(node)
  }

  /** Closes the node's leftovers in the background; one that fails is tried again after the next good poll. */
  work(node: PoolNode): void {
    if (node.leftovers.size === 0 || !node.online || this.#working.has(node)) return
    this.#working.add(node)
    // After the present tick: a caller that deletes a room closes it by itself, and wants to know how that went.
    setImmediate(() => void this.#closeLeftovers(node))
  }

  /** Whoever is known to be in the room on that node has left it. */
  empty(node: PoolNode, roomId: string): void {
    const { presence, events } = this.#context
    if (presence.nodeOf(roomId) === node.name) events.emitDepartures(node.name, presence.clear(roomId))
  }

  async #closeLeftovers(node: PoolNode): Promise<void> {
    try {
      while (node.leftovers.size > 0 && node.online) {
        await inSlices([...node.leftovers], sliceSize, this.#stopper.signal, async (roomId) => {
          if (!node.leftovers.has(roomId)) return
          if (roomHeldBy(this.#context, node, roomId) === undefined) await this.now(node, roomId)
          else node.leftovers.delete(roomId)
        })
      }
    } catch (error) {
      if (this.#stopper.signal.aborted) return
      const fields = { node: node.name, error: describeFailure(error), rooms: node.leftovers.size }
      this.#context.logger.warn(fields, 'rooms could not be closed on a node: tried again later')
    } finally {
      this.#working.delete(node)
    }
  }
}

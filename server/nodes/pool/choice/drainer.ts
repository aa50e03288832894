import { ApiError } from '../../../../shared/result-codes.ts'
import { refusal } from '../../../../shared/refusals/refusal.ts'
import { chooseNode, type Eligibility } from './choose-node.ts'
import type { LeftRoom, Relocation } from './relocation.ts'
import type { PoolContext } from '../state/pool-context.ts'
import type { LiveNode } from '../state/live-node.ts'
import { runWithConcurrency } from '../../port/concurrency.ts'
import { carriesMedia } from '../../port/node-driver.ts'
import { isSecondary, onNodes } from '../state/room-nodes.ts'

/** Number of rooms removed from a draining node in one transaction. */
const sliceSize = 100

/**
 * Removes rooms from draining nodes. If the node is a secondary node of a room, it is removed from the room when the
 * last person on the node leaves. A room with this primary node and without people loses its assignment; it gets
 * another node at its next get_mcu, or immediately if users are expected. A room with devices but no people moves only
 * if another node can take it, so that its devices can join there.
 */
export class Drainer {
  readonly #context: PoolContext
  readonly #eligibility: Eligibility
  readonly #relocation: Relocation
  readonly #stopper = new AbortController()
  readonly #working = new Set<LiveNode>()

  constructor(context: PoolContext, eligibility: Eligibility, relocation: Relocation) {
    this.#context = context
    this.#eligibility = eligibility
    this.#relocation = relocation
  }

  stop(): void {
    this.#stopper.abort(new Error('the node pool was stopped'))
  }

  /**
   * Stores whether the node drains, as requested by the operator.
   * @throws ApiError parameter if the node does not exist; storage
   */
  async set(name: string, draining: boolean): Promise<void> {
    const { store, index, clock } = this.#context
    await store.transact([`nodes/${name}`], (transaction) => {
      const node = store.get('nodes', name)
      if (node === undefined) throw new ApiError('parameter', { refusal: refusal('nodeUnknown'), field: 'name' })
      if (node.draining === draining) return
      const { drain: _, ...rest } = node
      const drain = { since: clock(), rooms: index.count(name) }
      transaction.put('nodes', name, draining ? { ...rest, draining, drain } : { ...rest, draining })
    })
  }

  /**
   * Removes all movable rooms in the background. If the change cannot be stored, it is retried after the next
   * successful poll.
   */
  work(node: LiveNode): void {
    if (!node.config.draining || node.drained || this.#working.has(node)) return
    this.#working.add(node)
    node.drained = true
    this.#takeAll(node)
      .catch((error: unknown) => {
        node.drained = false
        if (this.#stopper.signal.aborted) return
        this.#context.logger.warn(
          { node: node.name, err: error },
          'rooms could not be taken off a draining node: tried again later',
        )
      })
      .finally(() => this.#working.delete(node))
  }

  /** Removes a room when its last person left the draining node. */
  consider(node: LiveNode, roomId: string): void {
    if (!node.config.draining || !this.#movable(node, roomId)) return
    this.#take(node, [roomId]).catch((error: unknown) => {
      node.drained = false
      this.#context.logger.warn(
        { node: node.name, err: error },
        'a room could not be taken off a draining node: tried again later',
      )
    })
  }

  async #takeAll(node: LiveNode): Promise<void> {
    const rooms = this.#context.index.roomsOf(node.name)
    const slices = Array.from({ length: Math.ceil(rooms.length / sliceSize) }, (_, number) =>
      rooms.slice(number * sliceSize, (number + 1) * sliceSize).filter((roomId) => this.#movable(node, roomId)),
    )
    const next = (): string[] | undefined => {
      this.#stopper.signal.throwIfAborted()
      return slices.shift()
    }
    await runWithConcurrency(1, next, async (slice) => {
      if (slice.length > 0 && node.config.draining) await this.#take(node, slice)
    })
  }

  async #take(node: LiveNode, roomIds: readonly string[]): Promise<void> {
    const { store, expected } = this.#context
    // Rooms that moved to this node recently, and whose users are still expected.
    const awaited: LeftRoom[] = []
    const locks = roomIds.map((roomId) => `rooms/${roomId}`)
    await store.transact(locks, (transaction) => {
      awaited.length = 0
      if (!node.config.draining) return
      for (const roomId of roomIds) {
        const room = store.get('rooms', roomId)
        if (room === undefined || !this.#movable(node, roomId)) continue
        if (isSecondary(room, node.name)) {
          const others = (room.branches ?? []).filter((name) => name !== node.name)
          transaction.put('rooms', roomId, onNodes(room, room.node, others))
          continue
        }
        if (room.node !== node.name) continue
        transaction.put('rooms', roomId, onNodes(room, ''))
        const users = expected.in(roomId)
        if (users > 0) awaited.push({ roomId, users })
      }
    })
    if (awaited.length > 0) await this.#relocation.move(awaited)
  }

  #movable(node: LiveNode, roomId: string): boolean {
    const { presence, store, index } = this.#context
    if (index.isSecondary(roomId, node.name)) return presence.peopleAt(roomId, node.name) === 0
    if (presence.peopleIn(roomId) > 0) return false
    if (!presence.occupied(roomId)) return true
    const room = store.get('rooms', roomId)
    return room !== undefined && chooseNode(this.#eligibility.candidates(room, !carriesMedia(node.config))).ok
  }
}

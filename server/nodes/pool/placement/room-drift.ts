import type { PoolContext } from '../state/pool-context.ts'
import type { PlacedNode } from '../state/placed-node.ts'
import type { AskedMeanwhile, RoomPlacement } from './room-placement.ts'

/** Records which rooms a node holds unexpectedly, and which it lacks. */
export class RoomDrift {
  readonly #node: PlacedNode
  readonly #context: Pick<PoolContext, 'index' | 'drift' | 'logger'>
  /** Whether the node was sent its rooms, so that a missing room was lost. A node that starts empty lacks nothing. */
  #wasSent: boolean
  /** Last deviating number of rooms that was logged; -1: none. */
  #excusedCount = -1

  constructor(node: PlacedNode, context: Pick<PoolContext, 'index' | 'drift' | 'logger'>) {
    this.#node = node
    this.#context = context
    this.#wasSent = node.resumes
  }

  /**
   * Compares the node's list of rooms with the expected one.
   * @param rooms rooms known before the list arrived
   */
  compare(
    rooms: ReadonlyMap<string, RoomPlacement>,
    held: ReadonlySet<string>,
    { wants, mayBeNewer }: AskedMeanwhile,
  ): void {
    const { index, drift } = this.#context
    const { name } = this.#node
    const isMissing = (roomId: string): boolean => {
      const room = rooms.get(roomId)
      return !held.has(roomId) && wants(roomId) && (room === undefined || !mayBeNewer(roomId, room))
    }
    const unknown = [...held].filter((roomId) => !rooms.has(roomId) && !wants(roomId))
    const missing = this.#wasSent ? index.roomsOf(name).filter(isMissing) : []
    this.#wasSent = true
    drift.found(name, 'roomUnknown', unknown)
    drift.found(name, 'roomMissing', missing)
  }

  /**
   * Returns whether the node reports another number of rooms than known, without an event. Returns true once for each
   * number.
   */
  isMiscounted(counted: number, known: number): boolean {
    if (counted === known || counted === this.#excusedCount) return false
    this.#excusedCount = counted
    const fields = { node: this.#node.name, counted, known }
    this.#context.logger.warn(fields, 'a node counts other rooms than are known of it: it is asked which')
    return true
  }

  /** Discards the state of the node. */
  forget(): void {
    this.#excusedCount = -1
  }
}

import type { PlacementContext } from '../state/placement-context.ts'
import type { PlacedNode } from '../state/placed-node.ts'
import type { AskedMeanwhile, RoomPlacement } from './room-placement.ts'

/** Notes which rooms a node holds although they are not (any longer) its own, and which it lacks. */
export class RoomDrift {
  readonly #node: PlacedNode
  readonly #context: Pick<PlacementContext, 'index' | 'drift' | 'logger'>
  /** The node was sent its rooms, so a missing one was lost. A node that begins empty lacks nothing. */
  #wasSent: boolean
  /** A count of rooms that the node insists on, although it is none by its own list. */
  #excusedCount = -1

  constructor(node: PlacedNode, context: Pick<PlacementContext, 'index' | 'drift' | 'logger'>) {
    this.#node = node
    this.#context = context
    this.#wasSent = node.resumes
  }

  /** The node said which rooms it holds. @param rooms what was known until then */
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

  /** Whether the node counts other rooms than are known of it, without an event. True once for each count. */
  isMiscounted(counted: number, known: number): boolean {
    if (counted === known || counted === this.#excusedCount) return false
    this.#excusedCount = counted
    const fields = { node: this.#node.name, counted, known }
    this.#context.logger.warn(fields, 'a node counts other rooms than are known of it: it is asked which')
    return true
  }

  /** Discards what is known of the node. */
  forget(): void {
    this.#excusedCount = -1
  }
}

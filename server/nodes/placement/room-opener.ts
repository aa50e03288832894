import type { StoredRoom } from '../../store/records.ts'
import { DeadlineError } from '../deadline.ts'
import { toNodeRoom } from './node-room.ts'
import type { PoolContext } from '../pool-context.ts'
import type { PoolNode } from '../pool-node.ts'
import type { RoomCloser } from './room-closer.ts'

/** A room that changes faster than its node takes it is given up after so many tries; the next change tells the node again. */
const triesUntilCurrent = 5

/** How a room is opened on a node. */
export interface OpenOptions {
  /** When it must be done, on the clock of `performance.now()`. */
  until: number
  signal?: AbortSignal | undefined
  /** The room is not assigned to the node yet. */
  assigning?: boolean
}

/** Makes a node hold a room as it is stored now, also when the room changes meanwhile. */
export class RoomOpener {
  readonly #context: PoolContext
  readonly #closer: RoomCloser

  constructor(context: PoolContext, closer: RoomCloser) {
    this.#context = context
    this.#closer = closer
  }

  /**
   * Opens the room on the node, or changes it there. Returns the record that the node holds, or undefined when the room is gone, closed, or (unless it is being assigned)
   * somebody else's: then the node does not keep it either.
   * @throws DeadlineError, NodeError, the signal's reason
   */
  async open(node: PoolNode, roomId: string, options: OpenOptions): Promise<StoredRoom | undefined> {
    let told: StoredRoom | undefined
    for (let tries = 0; tries < triesUntilCurrent; tries += 1) {
      const room = this.#context.store.get('rooms', roomId)
      if (room === undefined || room.closed || !(options.assigning || room.node === node.name)) {
        if (told !== undefined) this.#closer.later(node, roomId)
        return undefined
      }
      if (room === told) return room
      const rest = options.until - performance.now()
      if (rest <= 0) throw new DeadlineError(this.#context.deadlines().node_ms)
      await this.#tell(node, room, rest, options)
      told = room
    }
    return told
  }

  async #tell(node: PoolNode, room: StoredRoom, milliseconds: number, options: OpenOptions): Promise<void> {
    const roomId = room.room_id
    // Taken off the list before the call, so that the room is not closed in the background behind it.
    const wasLeftover = node.leftovers.delete(roomId)
    try {
      await node.ask(milliseconds, options.signal, async (driver, signal) => {
        await node.closing.get(roomId)?.catch(() => undefined)
        await driver.openRoom(toNodeRoom(room, this.#context.store), signal)
      })
    } catch (error) {
      // Without an answer the node may hold it: it goes, unless it is the room's node all the same.
      if (wasLeftover || error instanceof DeadlineError) node.leftovers.add(roomId)
      throw error
    }
    node.opened.add(roomId)
  }
}

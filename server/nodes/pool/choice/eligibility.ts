import type { StoredRoom } from '../../../store/records.ts'
import type { PoolContext } from '../state/pool-context.ts'
import type { LiveNode } from '../state/live-node.ts'

/** Fields of a room that determine which kinds of nodes may hold it. */
export type RoomKind = Pick<StoredRoom, 'room_mode'>

/** Rooms with this mode and above are peer-to-peer: only nodes with this product's signalling support them. */
const firstPeerMode = 3

/** Determines which nodes may hold a room at all. `chooseNode` selects among them. */
export class Eligibility {
  readonly #context: Pick<PoolContext, 'store' | 'live'>
  /** Whether an enabled node carries media; undefined until computed. */
  #hasMedia: boolean | undefined

  constructor(context: Pick<PoolContext, 'store' | 'live'>) {
    this.#context = context
  }

  /** Handles that nodes were added, changed or removed. */
  nodesChanged(): void {
    this.#hasMedia = undefined
  }

  /**
   * Returns whether the node may hold the room. A room that needs media is never placed on a simulated node if the site
   * has real ones, even offline ones. O(1).
   * @param lab the room is for simulated people
   */
  mayHave({ config }: LiveNode, room: RoomKind, lab = false): boolean {
    if (config.kind === 'simulated') return lab || !this.#mediaNodes()
    return config.kind !== 'janus' || room.room_mode < firstPeerMode
  }

  /**
   * Returns whether the node may be one of several nodes of the room: nodes of this kind can relay streams to each
   * other.
   */
  mayShare({ config }: LiveNode, room: RoomKind): boolean {
    return config.kind === 'janus' && room.room_mode < firstPeerMode
  }

  /**
   * Returns the nodes that accept rooms now and may hold this one. A room for simulated people is placed on a simulated
   * node if there is one.
   */
  *candidates(room: RoomKind, lab = false): Generator<LiveNode> {
    const simulatedOnly = lab && this.#takesLabRooms()
    for (const node of this.#context.live.values()) {
      if (!node.takesRooms) continue
      if (simulatedOnly ? node.config.kind === 'simulated' : this.mayHave(node, room)) yield node
    }
  }

  #takesLabRooms(): boolean {
    for (const node of this.#context.live.values()) if (node.takesRooms && node.config.kind === 'simulated') return true
    return false
  }

  #mediaNodes(): boolean {
    this.#hasMedia ??= [...this.#context.store.all('nodes').values()].some(
      ({ kind, enabled }) => kind !== 'simulated' && enabled,
    )
    return this.#hasMedia
  }
}

import type { StoredRoom } from '../../../store/records.ts'
import type { PoolContext } from '../state/pool-context.ts'
import type { LiveNode } from '../state/live-node.ts'

/** A room as far as it matters which kinds of nodes may have it. */
export type RoomKind = Pick<StoredRoom, 'room_mode'>

/** Rooms of these modes are peer-to-peer: only nodes with a signalling of ours carry them. */
const firstPeerMode = 3

/** Which nodes a room may be on at all; which of them it gets is the choice's. */
export class Eligibility {
  readonly #context: Pick<PoolContext, 'store' | 'live'>
  /** Whether an enabled node carries media; undefined until it is asked. */
  #hasMedia: boolean | undefined

  constructor(context: Pick<PoolContext, 'store' | 'live'>) {
    this.#context = context
  }

  /** Nodes were added, changed or removed. */
  nodesChanged(): void {
    this.#hasMedia = undefined
  }

  /**
   * The node may have the room. Who wants media is never put on a simulated node where the site has real ones, even if those are offline. O(1).
   * @param lab the room is for simulated people
   */
  mayHave({ config }: LiveNode, room: RoomKind, lab = false): boolean {
    if (config.kind === 'simulated') return lab || !this.#mediaNodes()
    return config.kind !== 'janus' || room.room_mode < firstPeerMode
  }

  /** The node may be one of several that have the room: nodes of this kind hand streams to each other. */
  mayShare({ config }: LiveNode, room: RoomKind): boolean {
    return config.kind === 'janus' && room.room_mode < firstPeerMode
  }

  /** Nodes that take rooms now and may have this one. A room for simulated people is put on a simulated node where there is one. */
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

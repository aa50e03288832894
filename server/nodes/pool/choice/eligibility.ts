import { carriesMedia } from '../../port/node-driver.ts'
import type { StoredRoom } from '../../../store/records.ts'
import type { PoolContext } from '../state/pool-context.ts'
import type { LiveNode } from '../state/live-node.ts'

/** Fields of a room that determine which kinds of nodes may hold it. */
export type RoomKind = Pick<StoredRoom, 'room_mode'>

/** Lowest mode of peer-to-peer rooms, which only nodes with this product's signalling support. */
const firstPeerMode = 3

/** Determines which nodes may hold a room at all. `chooseNode` selects among them. */
export class Eligibility {
  readonly #context: Pick<PoolContext, 'store' | 'live'>
  /** Whether an enabled node carries media; undefined until computed. */
  #hasMedia: boolean | undefined

  constructor(context: Pick<PoolContext, 'store' | 'live'>) {
    this.#context = context
  }

  /** Handles the addition, change or removal of nodes. */
  nodesChanged(): void {
    this.#hasMedia = undefined
  }

  /**
   * Returns whether the node may hold the room. If the site has nodes that carry media, even offline ones, a room that
   * needs media is placed only on these nodes. O(1).
   * @param withoutMedia whether the room needs no media
   */
  mayHave({ config }: LiveNode, room: RoomKind, withoutMedia = false): boolean {
    if (!carriesMedia(config)) return withoutMedia || !this.#mediaNodes()
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
   * Returns the nodes that accept rooms now and may hold this room. If a room needs no media, only nodes without media
   * are returned, unless there are none.
   */
  *candidates(room: RoomKind, withoutMedia = false): Generator<LiveNode> {
    const onlyWithoutMedia = withoutMedia && this.#hasNodeWithoutMedia()
    for (const node of this.#context.live.values()) {
      if (!node.takesRooms) continue
      if (onlyWithoutMedia ? !carriesMedia(node.config) : this.mayHave(node, room)) yield node
    }
  }

  #hasNodeWithoutMedia(): boolean {
    for (const node of this.#context.live.values()) if (node.takesRooms && !carriesMedia(node.config)) return true
    return false
  }

  #mediaNodes(): boolean {
    this.#hasMedia ??= [...this.#context.store.all('nodes').values()].some((node) => node.enabled && carriesMedia(node))
    return this.#hasMedia
  }
}

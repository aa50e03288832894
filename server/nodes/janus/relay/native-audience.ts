import type { Relays } from './relays.ts'

/** Needs of the search among the people of a room. */
export interface NativeAudienceOptions {
  /** Names of the nodes that hold a room. */
  nodesOf: (roomId: string) => readonly string[]
  /** People and devices in a room, each with the node that they are on. */
  usersOf: (roomId: string) => Iterable<{ userId: string; device: boolean; node: string }>
  /** Whether a user came through the room page: their subscriptions are known. */
  isOnRoomPage: (roomId: string, userId: string) => boolean
  relays: Pick<Relays, 'watchAll'>
}

/**
 * People who joined a node of a relayed room by Janus's own API. They subscribe to any publisher there, and nobody learns to whom: while one of them is on a node, every stream of
 * the room is relayed to it.
 */
export class NativeAudience {
  readonly #options: NativeAudienceOptions
  /** Nodes that get every stream, by room, with the function that ends it. */
  readonly #rooms = new Map<string, Map<string, () => void>>()

  constructor(options: NativeAudienceOptions) {
    this.#options = options
  }

  /** Notes that users of a room came, left or moved to another node. */
  review(roomId: string): void {
    const wanted = this.#wanted(roomId)
    const ends = this.#rooms.get(roomId) ?? new Map<string, () => void>()
    for (const [node, end] of ends) {
      if (wanted.has(node)) continue
      ends.delete(node)
      end()
    }
    for (const node of wanted) if (!ends.has(node)) ends.set(node, this.#options.relays.watchAll(roomId, node))
    if (ends.size > 0) this.#rooms.set(roomId, ends)
    else this.#rooms.delete(roomId)
  }

  #wanted(roomId: string): Set<string> {
    const { nodesOf, usersOf, isOnRoomPage } = this.#options
    const nodes = nodesOf(roomId)
    const wanted = new Set<string>()
    if (nodes.length < 2) return wanted
    for (const { userId, device, node } of usersOf(roomId))
      if (!device && nodes.includes(node) && !isOnRoomPage(roomId, userId)) wanted.add(node)
    return wanted
  }
}

import type { Relays } from './relays.ts'

/** Who is looked for among the people of a room. */
export interface NativeAudienceOptions {
  /** Names of the nodes that hold a room. */
  nodesOf: (roomId: string) => readonly string[]
  /** People and devices in a room, each with the node that they are on. */
  usersOf: (roomId: string) => Iterable<{ userId: string; device: boolean; node: string }>
  /** They came through the room page: what they watch is known. */
  isOnRoomPage: (roomId: string, userId: string) => boolean
  relays: Pick<Relays, 'watchAll'>
}

/**
 * People who joined a node of a relayed room by Janus's own API. They subscribe to whoever publishes there, and nobody is told to whom: while one of them is on a node, everything
 * that is published in the room is handed on to it.
 */
export class NativeAudience {
  readonly #options: NativeAudienceOptions
  /** By room, the nodes that get everything, and what ends that. */
  readonly #rooms = new Map<string, Map<string, () => void>>()

  constructor(options: NativeAudienceOptions) {
    this.#options = options
  }

  /** Who is in a room may be another than before, or on another node. */
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

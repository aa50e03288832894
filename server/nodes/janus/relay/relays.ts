import type { NodeLogger } from '../../port/node-failure.ts'
import type { RelayNode } from './relay-node.ts'
import { RelayRoom, type RelayRoomOptions, type RelayRoomView } from './relay-room.ts'
import type { PublishedFeed } from '../people/room-feeds.ts'

export interface RelaysOptions {
  logger: NodeLogger
  /** Maximum number of nodes to which one node relays the same stream. */
  fanOut?: number | undefined
  /** Time for which a stream is still relayed after its last viewer left, in milliseconds. */
  graceMs?: number | undefined
  /** Time for which a relay of a previous controller is kept without a viewer, in milliseconds. */
  leftMs?: number | undefined
  /** Called when the publishers or relayed streams of a room on several nodes may have changed. */
  changed?: (roomId: string) => void
}

/** A stream that is watched on a node. */
export interface RelayedWatch {
  /**
   * Returns the participant to subscribe to on the node. Waits until the stream is available; can be called again after
   * the stream was lost.
   * @throws the signal's reason; NodeConnectionError when the relays end
   */
  feed(signal: AbortSignal): Promise<string>
  /** Ends the demand for the stream. */
  end(): void
}

/** Default of `fanOut`. For its source node, a relay costs as much as a viewer. */
const defaultFanOut = 8
const defaultGraceMs = 5_000
/**
 * Default of `leftMs`. Room pages connect to the next controller within seconds, and then request their streams again.
 */
const defaultLeftMs = 30_000

/** The relays of all rooms that are on several Janus nodes. A stream is relayed to the nodes on which it is watched. */
export class Relays {
  readonly #options: Omit<RelayRoomOptions, 'roomId' | 'changed'> & { changed: (roomId: string) => void }
  readonly #rooms = new Map<string, RelayRoom>()
  #isClosed = false

  constructor(options: RelaysOptions) {
    const { logger, fanOut = defaultFanOut, graceMs = defaultGraceMs, leftMs = defaultLeftMs } = options
    this.#options = { logger, fanOut, graceMs, leftMs, changed: options.changed ?? (() => {}) }
  }

  /** Sets the nodes of a room. With fewer than two nodes, nothing is relayed. */
  place(roomId: string, nodes: readonly RelayNode[]): void {
    const room = this.#rooms.get(roomId)
    if (this.#isClosed || (room === undefined && nodes.length < 2)) return
    const placed = room ?? this.#room(roomId)
    placed.place(nodes.length < 2 ? [] : nodes)
  }

  /** Adds a viewer of a stream on a node of a room. */
  watch(roomId: string, stream: string, node: string): RelayedWatch {
    const room = this.#room(roomId)
    const end = room.want({ node, stream })
    return { feed: (signal) => room.feed(stream, node, signal), end }
  }

  /**
   * Adds a viewer that may watch every stream of the room on a node, as clients of Janus's own API can. Returns a
   * function that removes the viewer.
   */
  watchAll(roomId: string, node: string): () => void {
    return this.#room(roomId).want({ node })
  }

  /** Returns the current relays of a room. */
  of(roomId: string): RelayRoomView[] {
    return this.#rooms.get(roomId)?.views() ?? []
  }

  /** Returns the number of connected and of connecting relays in all rooms. */
  counts(): { up: number; connecting: number } {
    const counts = { up: 0, connecting: 0 }
    for (const room of this.#rooms.values())
      for (const { isUp } of room.views()) counts[isUp ? 'up' : 'connecting'] += 1
    return counts
  }

  /** Returns the streams of people and devices in a room, on all of its nodes. */
  feedsOf(roomId: string): PublishedFeed[] {
    return this.#rooms.get(roomId)?.feeds() ?? []
  }

  /** Returns the node on which a stream of a room is published, if known. */
  originOf(roomId: string, stream: string): string | undefined {
    return this.#rooms.get(roomId)?.originOf(stream)
  }

  /** Returns whether the publishers in a room on this node are known. */
  sees(roomId: string, node: string): boolean {
    return this.#rooms.get(roomId)?.sees(node) === true
  }

  /** Stops, and keeps the relays running for the next controller. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    const rooms = [...this.#rooms.values()]
    this.#rooms.clear()
    await Promise.all(rooms.map((room) => room.leave()))
  }

  #room(roomId: string): RelayRoom {
    const known = this.#rooms.get(roomId)
    if (known !== undefined) return known
    const made: RelayRoom = new RelayRoom({
      roomId,
      ...this.#options,
      changed: () => {
        if (made.isIdle && this.#rooms.get(roomId) === made) this.#rooms.delete(roomId)
        this.#options.changed(roomId)
      },
    })
    this.#rooms.set(roomId, made)
    return made
  }
}

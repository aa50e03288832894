import type { NodeLogger } from '../../port/node-failure.ts'
import type { RelayNode } from './relay-node.ts'
import { RelayRoom, type RelayRoomOptions, type RelayView } from './relay-room.ts'
import type { PublishedFeed } from '../people/room-feeds.ts'

/** Needs of relays. */
export interface RelaysOptions {
  logger: NodeLogger
  /** Nodes to which one node hands the same stream. */
  fanOut?: number | undefined
  /** How long a stream that nobody watches any more is still handed on, in milliseconds. */
  graceMs?: number | undefined
  /** How long a stream is handed on that nobody has asked for since the controller began, in milliseconds. */
  leftMs?: number | undefined
  /** Called when the publishers or relayed streams of a room on several nodes may have changed. */
  changed?: (roomId: string) => void
}

/** A stream that somebody on a node watches. */
export interface RelayedWatch {
  /** The participant to subscribe to there, now; resolves when the stream is there, again after it was lost. @throws the signal's reason; NodeConnectionError when the relays end */
  feed(signal: AbortSignal): Promise<string>
  /** They watch it no longer. */
  end(): void
}

/** A stream costs a node as much for each node that it feeds as for each viewer. */
const defaultFanOut = 8
const defaultGraceMs = 5_000
/** Room pages are connected to the next controller within seconds, and say then what they watch. */
const defaultLeftMs = 30_000

/** Rooms that are on several Janus nodes: what is published on one of them is handed on to those on which somebody watches it. */
export class Relays {
  readonly #options: Omit<RelayRoomOptions, 'roomId' | 'changed'> & { changed: (roomId: string) => void }
  readonly #rooms = new Map<string, RelayRoom>()
  #isClosed = false

  constructor(options: RelaysOptions) {
    const { logger, fanOut = defaultFanOut, graceMs = defaultGraceMs, leftMs = defaultLeftMs } = options
    this.#options = { logger, fanOut, graceMs, leftMs, changed: options.changed ?? (() => {}) }
  }

  /** The nodes that a room is on from now on. With fewer than two of them nothing is relayed. */
  place(roomId: string, nodes: readonly RelayNode[]): void {
    const room = this.#rooms.get(roomId)
    if (this.#isClosed || (room === undefined && nodes.length < 2)) return
    const placed = room ?? this.#room(roomId)
    placed.place(nodes.length < 2 ? [] : nodes)
  }

  /** Somebody on a node of a room watches a stream. */
  watch(roomId: string, stream: string, node: string): RelayedWatch {
    const room = this.#room(roomId)
    const end = room.want({ node, stream })
    return { feed: (signal) => room.feed(stream, node, signal), end }
  }

  /** Somebody on a node of a room may watch everything, as a client of Janus's own API does. Returns what takes it back. */
  watchAll(roomId: string, node: string): () => void {
    return this.#room(roomId).want({ node })
  }

  /** Relays of a room now. */
  of(roomId: string): RelayView[] {
    return this.#rooms.get(roomId)?.views() ?? []
  }

  /** How many streams are handed on in all rooms, and how many are about to be. */
  counts(): { up: number; connecting: number } {
    const counts = { up: 0, connecting: 0 }
    for (const room of this.#rooms.values())
      for (const { isUp } of room.views()) counts[isUp ? 'up' : 'connecting'] += 1
    return counts
  }

  /** Streams of people and devices in a room, on every one of its nodes. */
  feedsOf(roomId: string): PublishedFeed[] {
    return this.#rooms.get(roomId)?.feeds() ?? []
  }

  /** Node on which a stream of a room is published, if known. */
  originOf(roomId: string, stream: string): string | undefined {
    return this.#rooms.get(roomId)?.originOf(stream)
  }

  /** Whether the publishers in a room on this node are known. */
  sees(roomId: string, node: string): boolean {
    return this.#rooms.get(roomId)?.sees(node) === true
  }

  /** Leaves relays running for the next controller. Never rejects. */
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

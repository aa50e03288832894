import type { NodeLogger } from '../../node-failure.ts'
import type { RelayNode } from './relay-node.ts'
import { RelayRoom, type RelayView } from './relay-room.ts'

/** What relays are made of. */
export interface RelaysOptions {
  logger: NodeLogger
  /** Nodes to which one node hands the same stream. */
  fanOut?: number
  /** How long a stream that nobody watches any more is still handed on, in milliseconds. */
  graceMs?: number
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

/** Rooms that are on several Janus nodes: what is published on one of them is handed on to those on which somebody watches it. */
export class Relays {
  readonly #options: Required<RelaysOptions>
  readonly #rooms = new Map<string, RelayRoom>()

  constructor({ logger, fanOut = defaultFanOut, graceMs = defaultGraceMs }: RelaysOptions) {
    this.#options = { logger, fanOut, graceMs }
  }

  /** The nodes that a room is on from now on. With fewer than two of them nothing is relayed. */
  place(roomId: string, nodes: readonly RelayNode[]): void {
    const room = this.#rooms.get(roomId)
    if (room === undefined && nodes.length < 2) return
    const placed = room ?? this.#room(roomId)
    placed.place(nodes.length < 2 ? [] : nodes)
    if (placed.isIdle) this.#rooms.delete(roomId)
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

  /** What is handed on now in a room. */
  of(roomId: string): RelayView[] {
    return this.#rooms.get(roomId)?.views() ?? []
  }

  /** Takes all relays down. Never rejects. */
  async close(): Promise<void> {
    const rooms = [...this.#rooms.values()]
    this.#rooms.clear()
    await Promise.all(rooms.map((room) => room.close()))
  }

  #room(roomId: string): RelayRoom {
    const known = this.#rooms.get(roomId)
    if (known !== undefined) return known
    const made = new RelayRoom({ roomId, ...this.#options })
    this.#rooms.set(roomId, made)
    return made
  }
}

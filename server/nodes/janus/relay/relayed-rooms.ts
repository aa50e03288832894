import type { NodeLogger } from '../../port/node-failure.ts'
import type { PoolEvent } from '../../port/pool-events.ts'
import type { RoomMediaEvent } from '../../port/room-media.ts'
import type { JanusPeople } from '../people/janus-people.ts'
import type { PeopleEvent } from '../people/people-media.ts'
import type { RelayNode } from './relay-node.ts'
import { Relays, type RelaysOptions } from './relays.ts'
import { RelayedMedia } from './relayed-media.ts'

export interface RelayedRoomsOptions
  extends Pick<NativeAudienceOptions, 'nodesOf' | 'usersOf'>,
    Pick<RelaysOptions, 'fanOut' | 'graceMs'> {
  /** Nodes in service by name; undefined for any other name. */
  nodes: { people(name: string): JanusPeople | undefined; relayNode(name: string): RelayNode | undefined }
  /** Returns the rooms that are on several nodes when the controller starts. */
  spread: () => Iterable<string>
  /** See RelayedMediaOptions. */
  choose: (roomId: string, signal: AbortSignal) => Promise<string>
  /** See RelayedMediaOptions. */
  unsure: (node: string) => void
  /** Receives the media events of the rooms. */
  tell: (event: RoomMediaEvent) => void
  logger: NodeLogger
}

/**
 * Rooms on several Janus nodes. A stream published on one node is available to everyone on the other nodes. The pool's
 * events determine the nodes of each room.
 */
export class RelayedRooms {
  readonly relays: Relays
  readonly media: RelayedMedia
  readonly #options: RelayedRoomsOptions
  readonly #natives: NativeAudience
  readonly #spread = new Set<string>()

  constructor(options: RelayedRoomsOptions) {
    const { nodes, nodesOf, usersOf, choose, unsure, tell, logger, fanOut, graceMs } = options
    this.#options = options
    this.relays = new Relays({ logger, fanOut, graceMs, changed: (roomId) => tell({ type: 'feeds', roomId }) })
    this.media = new RelayedMedia({
      nodesOf,
      node: (name) => {
        const [people, relay] = [nodes.people(name), nodes.relayNode(name)]
        return people === undefined || relay === undefined ? undefined : { people, ids: relay.ids }
      },
      choose,
      unsure,
      relays: this.relays,
      tell,
      logger,
    })
    this.#natives = new NativeAudience({
      nodesOf,
      usersOf,
      isOnRoomPage: (roomId, userId) => this.media.has(roomId, userId),
      relays: this.relays,
    })
  }

  /** Rooms that are on several nodes. */
  get rooms(): ReadonlySet<string> {
    return this.#spread
  }

  /** Returns the names of the nodes that hold a room, the primary node first. */
  nodesOf(roomId: string): readonly string[] {
    return this.#options.nodesOf(roomId)
  }

  /** Starts the relays of rooms that were already on several nodes when the controller started. */
  start(): void {
    for (const roomId of this.#options.spread()) this.#review(roomId)
  }

  noted(event: PoolEvent): void {
    if (event.type === 'roomNodes') this.#review(event.roomId)
    else if ((event.type === 'joined' || event.type === 'left') && this.#spread.has(event.roomId))
      this.#natives.review(event.roomId)
  }

  /** Handles a change of the set of nodes in service. */
  nodesChanged(): void {
    for (const roomId of new Set([...this.#spread, ...this.media.rooms])) this.#review(roomId)
  }

  /** Handles an event from the people of a node. */
  onPeopleEvent(people: JanusPeople, event: PeopleEvent): void {
    this.media.onPeopleEvent(people, event)
  }

  /** Stops, and keeps the relays running for the next controller. Never rejects. */
  async close(): Promise<void> {
    await this.relays.close()
  }

  #review(roomId: string): void {
    const { nodes, nodesOf } = this.#options
    const names = nodesOf(roomId)
    if (names.length > 1) this.#spread.add(roomId)
    else this.#spread.delete(roomId)
    this.relays.place(
      roomId,
      names.flatMap((name) => nodes.relayNode(name) ?? []),
    )
    this.#natives.review(roomId)
    this.media.review(roomId)
  }
}

interface NativeAudienceOptions {
  /** Returns the names of the nodes that hold a room. */
  nodesOf: (roomId: string) => readonly string[]
  /** Returns the people and devices in a room, each with the node that they are on. */
  usersOf: (roomId: string) => Iterable<{ userId: string; device: boolean; node: string }>
  /** Returns whether a user entered through the room page: the subscriptions of these users are known. */
  isOnRoomPage: (roomId: string, userId: string) => boolean
  relays: Pick<Relays, 'watchAll'>
}

/**
 * People who joined a node of a relayed room through Janus's own API. Janus does not report their subscriptions. While
 * such a person is on a node, all streams of the room are relayed to that node.
 */
class NativeAudience {
  readonly #options: NativeAudienceOptions
  /** Functions that stop relaying every stream to a node, by room and node. */
  readonly #rooms = new Map<string, Map<string, () => void>>()

  constructor(options: NativeAudienceOptions) {
    this.#options = options
  }

  /** Handles changes of the users of a room, or of their nodes. */
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

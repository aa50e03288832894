import { expect, onTestFinished } from 'vitest'
import { sole } from '../sole-leadership.ts'
import type { RoomMediaEvent } from '../../../server/nodes/port/room-media.ts'
import { RelayedRooms } from '../../../server/nodes/janus/relay/relayed-rooms.ts'
import { JanusPeople } from '../../../server/nodes/janus/people/janus-people.ts'
import { WhepPeer } from '../media/whep-peer.ts'
import { type Publishing, WhipPeer } from '../media/whip-peer.ts'
import type { JanusServer } from './janus-server.ts'
import { peopleEndpoint } from './people-endpoint.ts'
import { RoomPeer } from './room-peers.ts'
import { openTestRoom, TestRelayNode } from './test-relay-node.ts'

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: console.error }
/** Cheap enough for many publishers. */
const small: Publishing = { pictures: 25, packets: 1, bytes: 200, anyAddress: true }

interface SiteNode {
  janus: JanusServer
  people: JanusPeople
  relay: TestRelayNode
}

/** One room on several Janus processes, with its users of the room page in `endpoint`; removed with the test. */
export class RelayedSite {
  readonly room: string
  readonly relayedRooms: RelayedRooms
  /** Events for the room page's process. */
  readonly told: RoomMediaEvent[] = []
  /** Nodes that may be down. */
  readonly unsure: string[] = []
  readonly #nodes: Map<string, SiteNode>
  /** Names of the nodes that hold the room. */
  #on: readonly string[]
  /** Node for the next user. */
  #chosen = ''
  /** Users of Janus's own API. */
  readonly #natives = new Map<string, { node: string; device: boolean }>()
  #url = ''

  private constructor(room: string, nodes: Map<string, SiteNode>, how: { fanOut?: number; graceMs: number }) {
    this.room = room
    this.#nodes = nodes
    this.#on = [...nodes.keys()]
    this.relayedRooms = new RelayedRooms({
      nodes: {
        people: (name) => nodes.get(name)?.people,
        relayNode: (name) => nodes.get(name)?.relay,
      },
      nodesOf: () => this.#on,
      usersOf: () => Array.from(this.#natives, ([userId, native]) => ({ userId, ...native })),
      spread: () => [room],
      choose: () => Promise.resolve(this.#chosen),
      unsure: (node) => this.unsure.push(node),
      tell: (event) => this.told.push(event),
      logger,
      ...how,
    })
  }

  /** @param servers by node name, the room's own node first */
  static async open(
    servers: Readonly<Record<string, JanusServer>>,
    room: string,
    how: { fanOut?: number; graceMs?: number } = {},
  ): Promise<RelayedSite> {
    const started: { site?: RelayedSite } = {}
    const nodes = new Map(
      Object.entries(servers).map(([name, janus]) => {
        const relay = new TestRelayNode(name, janus)
        const people: JanusPeople = new JanusPeople({
          socket: { url: janus.wsUrl, apiSecret: janus.configuration.secrets.api, leadership: sole, logger },
          entrance: { admit: () => Promise.resolve({}), admitted: () => {}, changed: () => {} },
          rooms: {
            nameOf: (roomId) => roomId,
            kick: async (roomId, id) => {
              await relay.participants.clear({ roomId, id })
              return true
            },
            moderate: () => Promise.resolve(true),
          },
          tell: (event) => started.site?.relayedRooms.onPeopleEvent(people, event),
          logger,
        })
        return [name, { janus, people, relay }]
      }),
    )
    await Promise.all(Object.values(servers).map((janus) => openTestRoom(janus, room)))
    const site = new RelayedSite(room, nodes, { graceMs: 200, ...how })
    started.site = site
    const endpoint = await peopleEndpoint(site.relayedRooms.media)
    site.#url = endpoint.url
    site.relayedRooms.start()
    onTestFinished(async () => {
      await endpoint[Symbol.asyncDispose]()
      site.place()
      await site.relayedRooms.close()
      await Promise.all([...nodes.values()].map(({ people }) => people.close()))
      await Promise.all([...nodes.values()].map(({ relay }) => relay.close()))
    })
    return site
  }

  /** Places the room on these nodes from now on. */
  place(...names: string[]): void {
    this.#on = names
    this.relayedRooms.noted({ type: 'roomNodes', roomId: this.room, nodes: names })
  }

  /** Adds a user of the room page, on that node. */
  enter(userId: string, node: string): void {
    this.#chosen = node
    this.relayedRooms.media.enter({ roomId: this.room, userId, userName: userId, role: 'member' })
  }

  /** Publishes camera and microphone of a user until the end of the test. */
  async send(userId: string): Promise<WhipPeer> {
    const peer = await WhipPeer.open(`${this.#url}/whip/${this.room}/${userId}`, '', small)
    onTestFinished(() => peer.close())
    await this.shown(userId)
    return peer
  }

  /** Waits until a stream published by Janus's own API is announced, a moment after the answer of Janus. */
  async shown(streamId: string): Promise<void> {
    await expect.poll(() => this.streams).toContain(streamId)
  }

  /** Watches a stream until the end of the test; without a user: hidden. Resolves at the first packet. */
  async watch(streamId: string, userId?: string): Promise<WhepPeer> {
    const path = [this.room, streamId, ...(userId === undefined ? [] : [userId])].join('/')
    const peer = await WhepPeer.openOffered(`${this.#url}/whep/${path}`)
    onTestFinished(async () => void (await peer.close()))
    return peer
  }

  /** Joins a user, or a camera, to a node by Janus's own API until the end of the test. */
  async join(userId: string, node: string, device = false): Promise<RoomPeer> {
    const { janus } = this.#node(node)
    const peer = await RoomPeer.join(janus, this.room, userId)
    onTestFinished(() => peer.leave())
    this.#natives.set(userId, { node, device })
    const user = { userId, userName: userId, device, role: 'member' as const, joinedAt: 0 }
    this.relayedRooms.noted({ type: 'joined', name: node, roomId: this.room, user })
    return peer
  }

  /** Streams that every user of the room page sees. */
  get streams(): string[] {
    return this.relayedRooms.media.feedsOf(this.room).map(({ userId }) => userId)
  }

  /** Streams that are relayed. */
  get relays(): string[] {
    return this.relayedRooms.relays.of(this.room).map(({ stream, from, to }) => `${stream} from ${from} to ${to}`)
  }

  /** Users that were removed from the room. */
  get out(): string[] {
    return this.told.flatMap((event) => (event.type === 'out' ? [event.userId] : []))
  }

  #node(name: string): SiteNode {
    const node = this.#nodes.get(name)
    if (node === undefined) throw new Error(`there is no node ${name}`)
    return node
  }
}

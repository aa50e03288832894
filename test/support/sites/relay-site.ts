import { onTestFinished } from 'vitest'
import { RelayRecords } from '../../../server/nodes/janus/relay/relay-records.ts'
import { Relays } from '../../../server/nodes/janus/relay/relays.ts'
import type { Store } from '../../../server/store/store.ts'
import type { JanusServer } from '../janus/janus-server.ts'
import { RoomPeer } from '../janus/room-peers.ts'
import { openTestRoom, TestRelayNode } from '../janus/test-relay-node.ts'

const logger = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error }

/** Options of the site. */
export interface RelaySiteOptions {
  graceMs?: number
  fanOut?: number
  leftMs?: number
  /** The room exists already. */
  isThere?: boolean
  /** Store of the records for the next controller; default: none. */
  store?: Store
}

/** Relays between the Janus processes of a test file; removed with the test. */
export class RelaySite {
  readonly nodes: readonly TestRelayNode[]
  readonly relays: Relays
  readonly room: string

  #isAbandoned = false

  private constructor(nodes: readonly TestRelayNode[], relays: Relays, room: string) {
    this.nodes = nodes
    this.relays = relays
    this.room = room
  }

  /** Opens a room on all these nodes, with relays between them. */
  static async open(
    servers: readonly JanusServer[],
    room: string,
    { isThere = false, store, ...options }: RelaySiteOptions = {},
  ): Promise<RelaySite> {
    const begun: { site?: RelaySite } = {}
    const records = store === undefined ? undefined : new RelayRecords(unlessDead(store, begun), logger)
    const nodes = servers.map((janus, index) => new TestRelayNode('abcdef'[index] ?? '', janus, records))
    const site = new RelaySite(nodes, new Relays({ logger, graceMs: 200, ...options }), room)
    begun.site = site
    if (!isThere) await Promise.all(servers.map((janus) => openTestRoom(janus, room)))
    site.relays.place(room, nodes)
    onTestFinished(() => site.close())
    return site
  }

  get isAbandoned(): boolean {
    return this.#isAbandoned
  }

  /** Joins a user by Janus's own API until the end of the test. */
  async join(janus: JanusServer, id: string): Promise<RoomPeer> {
    const peer = await RoomPeer.join(janus, this.room, id)
    onTestFinished(() => peer.leave())
    return peer
  }

  /** Lists the participants of the room in Janus, except those that belong to no stream. */
  async participants(janus: JanusServer): Promise<string[]> {
    const { participants } = await janus.ask('videoroom', { request: 'listparticipants', room: this.room })
    const ids = (participants as { id: string }[]).map(({ id }) => id)
    return ids.filter((id) => id !== 'relay-test~').sort()
  }

  /** Ends the controller in order: relays continue. */
  async leave(): Promise<void> {
    await this.relays.close()
    await Promise.all(this.nodes.map((node) => node.close()))
  }

  /** Ends the controller without notice to Janus. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true
    await Promise.all(this.nodes.map((node) => node.abandon()))
  }

  /** Removes everything. */
  async close(): Promise<void> {
    this.relays.place(this.room, [])
    await this.relays.close()
    await Promise.all(this.nodes.map((node) => node.close()))
  }
}

/** Stops writes of a dead controller. */
function unlessDead(store: Store, begun: { site?: RelaySite }): Pick<Store, 'all' | 'get' | 'transact'> {
  return {
    all: (collection) => store.all(collection),
    get: (collection, key) => store.get(collection, key),
    transact: (locks, plan) => (begun.site?.isAbandoned === true ? new Promise(() => {}) : store.transact(locks, plan)),
  }
}

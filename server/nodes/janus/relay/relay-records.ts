import type { StoredRelayBridge, StoredRelayObserver, StoredRoom } from '../../../store/records.ts'
import type { Store, Transaction } from '../../../store/store.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { KnownHandle } from '../wire/janus-session.ts'
import type { RelayEnd, RelayIds, RelayParticipant } from './relay-participants.ts'

/** Operations of the store for relay and observer records. */
type Records = Pick<Store, 'all' | 'get' | 'transact'>

const plugin = 'janus.plugin.videoroom'

/**
 * The relays of all rooms, stored for the next controller and for reconnections. Changes are written within
 * milliseconds, in the background: a relay whose record is lost in a crash is created again.
 */
export class RelayRecords {
  readonly #store: Records
  readonly #logger: NodeLogger
  /** Relays by room and key. */
  readonly #bridges = new Map<string, Map<string, StoredRelayBridge>>()
  readonly #observers = new Map<string, StoredRelayObserver>()
  /** Session that contains the relay handles of each node. */
  readonly #sessions = new Map<string, number>()
  /** Unneeded handles of each node that could not be removed yet. */
  readonly #strays = new Map<string, RelayEnd[]>()
  readonly #writing = new Set<Promise<unknown>>()

  constructor(store: Records, logger: NodeLogger) {
    this.#store = store
    this.#logger = logger
    this.#remember()
  }

  /** Returns the relays of the room whose target is this node. */
  bridgesTo(node: string, roomId: string): StoredRelayBridge[] {
    return [...(this.#bridges.get(roomId)?.values() ?? [])].filter(({ to_node }) => to_node === node)
  }

  /**
   * Returns the relay participants in the rooms of a node: streams from other nodes, and observers.
   * @param ids ids of relay participants on the node
   */
  participantsOn(node: string, ids: RelayIds): RelayParticipant[] {
    const streams = this.#allBridges().filter(({ to_node }) => to_node === node)
    const observers = [...this.#observers.values()].filter((observer) => observer.node === node)
    return [
      ...streams.map(({ room_id: roomId, stream }) => ({ roomId, id: ids.of(stream) })),
      ...observers.map(({ room_id: roomId }) => ({ roomId, id: ids.observer })),
    ]
  }

  observer(node: string, roomId: string): RelayEnd | undefined {
    return this.#observers.get(observerKey(node, roomId))
  }

  put(bridge: StoredRelayBridge): void {
    const room = this.#bridges.get(bridge.room_id) ?? new Map<string, StoredRelayBridge>()
    const key = bridgeKey(bridge)
    this.#bridges.set(bridge.room_id, room.set(key, { ...bridge }))
    this.#write((transaction) => transaction.put('relay_loops', key, { ...bridge }), 'relay_loops', key)
  }

  /**
   * Deletes the record of a relay. If the record already belongs to another relay, keeps the record and returns false.
   */
  delete(bridge: StoredRelayBridge): boolean {
    const key = bridgeKey(bridge)
    const room = this.#bridges.get(bridge.room_id)
    if (room?.get(key)?.publisher !== bridge.publisher) return false
    room.delete(key)
    if (room.size === 0) this.#bridges.delete(bridge.room_id)
    this.#erase('relay_loops', key)
    return true
  }

  putObserver(observer: StoredRelayObserver): void {
    const key = observerKey(observer.node, observer.room_id)
    this.#observers.set(key, observer)
    this.#write((transaction) => transaction.put('relay_observers', key, observer), 'relay_observers', key)
  }

  /**
   * Deletes the record of an observer. If the record already belongs to another observer, keeps the record and returns
   * false.
   */
  deleteObserver({ node, room_id, handle }: StoredRelayObserver): boolean {
    const key = observerKey(node, room_id)
    if (this.#observers.get(key)?.handle !== handle) return false
    this.#observers.delete(key)
    this.#erase('relay_observers', key)
    return true
  }

  /** Returns the node's session for relays, which may have ended; undefined if none was opened yet. */
  sessionOf(node: string): number | undefined {
    return this.#sessions.get(node)
  }

  /** Sets the node's session for relays. Handles of another session no longer exist. */
  use(node: string, session: number): void {
    this.#sessions.set(node, session)
    this.#strays.delete(node)
  }

  /** Returns the node's session for relays with its handles; undefined without a session or without handles. */
  known(node: string): { id: number; handles: KnownHandle[] } | undefined {
    const id = this.#sessions.get(node)
    if (id === undefined) return undefined
    const ends = [
      ...this.#allBridges().flatMap((bridge) => [...endsOf(bridge)]),
      ...Array.from(this.#observers.values(), (observer) => ({ ...observer })),
      ...this.straysOf(node).map((end) => ({ ...end, node })),
    ]
    const handles = ends.filter((end) => end.node === node && end.session === id)
    return handles.length === 0 ? undefined : { id, handles: handles.map(({ handle }) => ({ id: handle, plugin })) }
  }

  /** Keeps an unneeded handle that could not be removed, so that the next connection to the node removes it. */
  leaveBehind(node: string, end: RelayEnd): void {
    if (end.session === this.#sessions.get(node)) this.#strays.set(node, [...this.straysOf(node), end])
  }

  straysOf(node: string): readonly RelayEnd[] {
    return this.#strays.get(node) ?? []
  }

  /** Resolves when all pending writes are finished, whether they succeeded or not. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing)
  }

  #remember(): void {
    const [bridges, observers] = [this.#store.all('relay_loops'), this.#store.all('relay_observers')]
    const latest = new Map<string, number>()
    for (const { node, session, at } of [
      ...Array.from(bridges.values(), (bridge) => endsOf(bridge)).flat(),
      ...Array.from(observers.values(), ({ node, session, joined_at: at }) => ({ node, session, at })),
    ]) {
      if (at < (latest.get(node) ?? 0)) continue
      latest.set(node, at)
      this.#sessions.set(node, session)
    }
    for (const [key, bridge] of bridges) {
      const { room_id: roomId, from_node, to_node } = bridge
      if (this.#isOn(roomId, from_node, to_node))
        this.#bridges.set(roomId, (this.#bridges.get(roomId) ?? new Map<string, StoredRelayBridge>()).set(key, bridge))
      else {
        for (const { node, ...end } of endsOf(bridge)) this.leaveBehind(node, end)
        this.#erase('relay_loops', key)
      }
    }
    for (const [key, observer] of observers) {
      if (this.#isOn(observer.room_id, observer.node)) this.#observers.set(key, observer)
      else {
        this.leaveBehind(observer.node, observer)
        this.#erase('relay_observers', key)
      }
    }
  }

  /** Returns whether the room is on several nodes, including `nodes`. */
  #isOn(roomId: string, ...nodes: readonly string[]): boolean {
    const room: StoredRoom | undefined = this.#store.get('rooms', roomId)
    const { node = '', branches = [] } = room ?? {}
    return branches.length > 0 && nodes.every((name) => name === node || branches.includes(name))
  }

  #allBridges(): StoredRelayBridge[] {
    return [...this.#bridges.values()].flatMap((room) => [...room.values()])
  }

  #write(
    change: (transaction: Transaction) => void,
    ...key: [collection: 'relay_loops' | 'relay_observers', key: string]
  ): void {
    const written = this.#store
      .transact([key.join('/')], change)
      .catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'could not store a relay between Janus nodes: it ends with the controller')
      })
      .finally(() => this.#writing.delete(written))
    this.#writing.add(written)
  }

  #erase(...key: [collection: 'relay_loops' | 'relay_observers', key: string]): void {
    this.#write((transaction) => transaction.delete(...key), ...key)
  }
}

/** Returns both handles of a relay, with their nodes. */
function endsOf(bridge: StoredRelayBridge): (RelayEnd & { node: string; at: number })[] {
  const { from_node, from_session, subscriber, to_node, to_session, publisher, up_at: at } = bridge
  return [
    { node: from_node, session: from_session, handle: subscriber, at },
    { node: to_node, session: to_session, handle: publisher, at },
  ]
}

function bridgeKey({ room_id, stream, to_node }: StoredRelayBridge): string {
  return JSON.stringify([room_id, stream, to_node])
}

function observerKey(node: string, roomId: string): string {
  return JSON.stringify([node, roomId])
}

import type { NodeView } from '../../shared/console/nodes.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { StoredNode, StoredRoom } from '../store/records.ts'
import type { Change, Store } from '../store/store.ts'
import { Assigner } from './choice/assigner.ts'
import type { ChoiceOptions } from './choice/choose-node.ts'
import { Drainer } from './choice/drainer.ts'
import { Eligibility } from './choice/eligibility.ts'
import { ExpectedUsers } from './choice/expected-users.ts'
import { type LeftRoom, Relocation, roomsInUse } from './choice/relocation.ts'
import { DeadlineError } from './deadline.ts'
import { EventIntake } from './event-intake.ts'
import { DeviceJoinError, type MediaNode, type NodeDevice, type NodeUser } from './media-node.ts'
import { type ConnectionTest, type NodeInspections, testConnection } from './health/connection-test.ts'
import type { NodeDrivers } from './node-driver.ts'
import { asApiError, type NodeLogger } from './node-failure.ts'
import { NodeRoster } from './node-roster.ts'
import type { PoolContext } from './pool-context.ts'
import { type PoolEvent, PoolEvents } from './pool-events.ts'
import type { PoolNode } from './pool-node.ts'
import { viewsOf } from './pool-views.ts'
import { Presence, type PresenceTotals } from './presence.ts'
import { RoomIndex } from './placement/room-index.ts'

/** What a pool is made of. */
export interface NodePoolOptions {
  store: Store
  drivers: NodeDrivers
  /** Kinds that are tested by looking closely; the others are polled once. */
  inspections?: NodeInspections
  /** The settings in force; read at each use. */
  settings: () => Settings
  logger: NodeLogger
  /** Milliseconds since the epoch. */
  clock?: () => number
  /** Milliseconds that only grow, for what is remembered of nodes and expected of rooms; `performance.now` unless a test lets time pass. */
  now?: () => number
  /** `host:port` for an embedded or simulated node without a configured address; empty when there is none. @param port of the node; 0: the node port */
  defaultAddress?: (port: number) => string
}

/**
 * Every MCU node of the site behind one face: which node serves which room, who is in the rooms, and calls to the right node with their deadlines.
 * Look-ups are O(1) in rooms and users.
 */
export class NodePool {
  readonly #context: PoolContext
  readonly #options: NodePoolOptions
  readonly #eligibility: Eligibility
  readonly #assigner: Assigner
  readonly #relocation: Relocation
  readonly #drainer: Drainer
  readonly #roster: NodeRoster
  readonly #unsubscribe: () => void

  constructor(options: NodePoolOptions) {
    const { store, settings, logger, clock = Date.now, now = () => performance.now() } = options
    this.#options = options
    this.#context = {
      store,
      deadlines: () => settings().deadlines,
      clock,
      logger,
      events: new PoolEvents(logger),
      presence: new Presence(),
      index: new RoomIndex(store.all('rooms')),
      expected: new ExpectedUsers(now),
      now,
      live: new Map(),
    }
    this.#eligibility = new Eligibility(this.#context)
    this.#assigner = new Assigner(this.#context, this.#eligibility)
    this.#relocation = new Relocation(this.#context, this.#assigner)
    this.#drainer = new Drainer(this.#context, this.#eligibility, this.#relocation)
    const intake = new EventIntake(this.#context, (node, roomId) => this.#drainer.consider(node, roomId))
    const listener = {
      onState: (node: PoolNode, state: string, error: unknown) => {
        this.#roster.note(node, error)
        if (state === 'offline') this.#lost(node)
        // What had nowhere to go may have now.
        else for (const other of this.#context.live.values()) other.drained = false
      },
      onHealthy: (node: PoolNode) => this.#healthy(node),
      onFailure: (node: PoolNode, error: unknown) => {
        if (!node.online) this.#roster.note(node, error)
      },
      onLeaving: (rooms: readonly LeftRoom[]) => this.#relocation.move(rooms),
      onEvent: intake.take.bind(intake),
    }
    this.#roster = new NodeRoster(this.#context, options.drivers, listener, () => settings().deadlines.shutdown_ms)
    this.#unsubscribe = store.onChange((changes) => this.#follow(changes))
  }

  /** Takes the stored nodes into service; resolves when the first poll of each has ended or its deadline has passed. */
  start(): Promise<void> {
    return this.#roster.start()
  }

  /** Ends everything; external nodes keep their rooms. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#drainer.stop()
    this.#relocation.stop()
    await this.#roster.stop()
  }

  onEvent(listener: (event: PoolEvent) => void): () => void {
    return this.#context.events.subscribe(listener)
  }

  /**
   * The name of the room's node; gives it one where it has none that is online. The assignment is on disk before this resolves. Concurrent calls share one attempt.
   * @throws ApiError roomNotFound, roomClosed, noNode, licenceExceeded, nodeTimeout, storage; the signal's reason
   */
  assign(roomId: string, options: ChoiceOptions = {}, signal?: AbortSignal): Promise<string> {
    return this.#assigner.assign(roomId, options, signal)
  }

  /** `host:port` of a node: its address with that tag, else its first one, else the default. @throws ApiError nodeOffline, noNode */
  address(name: string, ipTag = ''): string {
    const config = this.#context.store.get('nodes', name)
    if (config === undefined) throw new ApiError('nodeOffline')
    const address = config.addresses.find(({ tag }) => tag === ipTag) ?? config.addresses[0]
    if (address !== undefined) return address.addr
    const fallback =
      config.kind === 'janus' ? addressOf(config.ws_url) : (this.#options.defaultAddress?.(config.port) ?? '')
    if (fallback === '') throw new ApiError('noNode', { reason: `The node ${name} has no address for clients.` })
    return fallback
  }

  /** Tells the room's node how the room is stored now; a room without an online node needs no telling. @throws ApiError */
  async update(room: Pick<StoredRoom, 'room_id'>, signal?: AbortSignal): Promise<void> {
    const roomId = room.room_id
    const node = this.#context.live.get(this.#context.index.nodeOf(roomId))
    if (!node?.serving) return
    const until = performance.now() + this.#context.deadlines().node_ms
    await this.#translated(node, 'openRoom', signal, () => node.placement.open(roomId, { until, signal }))
  }

  /**
   * Everybody is out of the room and its node no longer holds it; also after its record is gone. A room on no online node needs no closing: it goes when the node returns.
   * When it fails, it is tried again in the background.
   * @throws ApiError nodeTimeout, nodeOffline
   */
  async close(roomId: string, signal?: AbortSignal): Promise<void> {
    const { index, live, deadlines } = this.#context
    const assigned = index.nodeOf(roomId)
    const until = performance.now() + deadlines().node_ms
    const holders = [...live.values()].filter(
      (node) => node.online && (node.name === assigned || node.placement.mayHold(roomId)),
    )
    await Promise.all(
      holders.map((node) =>
        this.#translated(node, 'closeRoom', signal, () => node.placement.close(roomId, { until, signal })),
      ),
    )
  }

  /** Who is in the room, asked of its node; `usersOf` knows it without asking. @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout */
  users(roomId: string, signal?: AbortSignal): Promise<NodeUser[]> {
    return this.#call(roomId, 'users', signal, (driver, inner) => driver.users(roomId, inner))
  }

  /** Ends a user's connection; false when no such user is in the room. @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout */
  async kick(roomId: string, userId: string, signal?: AbortSignal): Promise<boolean> {
    return this.#call(roomId, 'kick', signal, (driver, inner) => driver.kick(roomId, userId, inner))
  }

  /**
   * Takes a device into its room, which must have been assigned; resolves when its media flows.
   * @throws DeviceJoinError, also of kind `timeout` when the device rather than the node did not answer; ApiError roomNotFound, roomClosed, neverAssigned, nodeOffline, nodeTimeout
   */
  async addDevice(roomId: string, device: NodeDevice, signal?: AbortSignal): Promise<void> {
    const node = this.#nodeOf(roomId)
    const milliseconds = this.#context.deadlines().device_ms
    const startedAt = performance.now()
    // Half-way the node itself is asked, so that a late answer can be blamed on the right one.
    const recheck = setTimeout(() => node.health.pollSoon(), milliseconds / 2)
    recheck.unref()
    try {
      await this.#translated(node, 'addDevice', signal, async () => {
        const until = startedAt + milliseconds
        if (!node.placement.isOpen(roomId) && !(await node.placement.open(roomId, { until, signal }))) {
          throw new ApiError('roomClosed')
        }
        const rest = Math.max(1, until - performance.now())
        await node.ask(rest, signal, (driver, inner) => driver.addDevice(roomId, device, inner))
      })
    } catch (error) {
      const unanswered = error instanceof ApiError && error.code === 'nodeTimeout'
      if (!unanswered || node.health.lastSuccess < startedAt) throw error
      throw new DeviceJoinError('timeout', 'The device did not answer in time.', { cause: error })
    } finally {
      clearTimeout(recheck)
    }
  }

  /** The device is out of the room. @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout */
  removeDevice(roomId: string, userId: string, signal?: AbortSignal): Promise<void> {
    return this.#call(roomId, 'removeDevice', signal, (driver, inner) => driver.removeDevice(roomId, userId, inner))
  }

  /** Gives the node no new rooms, or again. Durable; how far it is: `rooms_left` in `views()`. @throws ApiError parameter, storage */
  drain(name: string, on: boolean): Promise<void> {
    return this.#drainer.set(name, on)
  }

  /** Names of the nodes that hold the room, its own first, then its branches; empty when it has none. O(1). */
  nodesOf(roomId: string): readonly string[] {
    return this.#context.index.nodesOf(roomId)
  }

  /** Users of the room in the order they joined, devices included. */
  usersOf(roomId: string): readonly NodeUser[] {
    return this.#context.presence.usersOf(roomId)
  }

  /** The user if in the room. */
  user(roomId: string, userId: string): NodeUser | undefined {
    return this.#context.presence.user(roomId, userId)
  }

  /** Somebody is in the room, a person or a device. */
  occupied(roomId: string): boolean {
    return this.#context.presence.occupied(roomId)
  }

  /** How many users the room has, devices included. */
  userCount(roomId: string): number {
    return this.#context.presence.count(roomId)
  }

  /** People and devices in rooms, all nodes together. */
  totals(): PresenceTotals {
    return this.#context.presence.totals()
  }

  /** Rooms with somebody in them. */
  get occupiedRooms(): number {
    return this.#context.presence.occupiedRooms
  }

  /** The room is assigned to a node that is online now. */
  onOnlineNode(roomId: string): boolean {
    return this.#context.live.get(this.#context.index.nodeOf(roomId))?.serving ?? false
  }

  /**
   * Of the nodes that are enabled, each was polled, and none is online: `stopped` (device API 302, 303, 304), or `unresponsive` when one of
   * them is there and does not answer (310).
   */
  engine(): 'running' | 'stopped' | 'unresponsive' {
    const nodes = [...this.#context.live.values()].filter(({ leaving }) => !leaving)
    if (nodes.length === 0 || nodes.some(({ health }) => health.state !== 'offline')) return 'running'
    return nodes.some(({ health }) => health.unresponsive) ? 'unresponsive' : 'stopped'
  }

  /** The driver of an enabled node, for the lab. */
  driver(name: string): MediaNode | undefined {
    return this.#context.live.get(name)?.driver
  }

  /** Every node as the console shows it. */
  views(): NodeView[] {
    return viewsOf(this.#context, (name) => this.#roster.stateOf(name))
  }

  /** Tries a configuration without adding it. */
  testConnection(config: StoredNode): Promise<ConnectionTest> {
    const { drivers, inspections = {} } = this.#options
    return testConnection(drivers, inspections, config, this.#context)
  }

  #nodeOf(roomId: string): PoolNode {
    const { store, index, live } = this.#context
    const name = index.nodeOf(roomId)
    if (name === '') throw new ApiError(store.get('rooms', roomId) === undefined ? 'roomNotFound' : 'neverAssigned')
    const node = live.get(name)
    if (!node?.serving) throw new ApiError('nodeOffline')
    return node
  }

  async #call<T>(
    roomId: string,
    name: string,
    signal: AbortSignal | undefined,
    run: (driver: MediaNode, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const node = this.#nodeOf(roomId)
    return this.#translated(node, name, signal, () => node.ask(this.#context.deadlines().node_ms, signal, run))
  }

  async #translated<T>(
    node: PoolNode,
    name: string,
    signal: AbortSignal | undefined,
    run: () => Promise<T>,
  ): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (signal?.aborted && !(error instanceof DeadlineError)) throw signal.reason
      throw asApiError(error, { node: node.name, name }, this.#context.logger)
    }
  }

  #follow(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.collection === 'rooms') this.#followRoom(change.key, change.value)
      else if (change.collection === 'nodes') this.#followNode(change.key)
    }
  }

  #followNode(name: string): void {
    this.#eligibility.nodesChanged()
    this.#roster.follow(name)
    const node = this.#context.live.get(name)
    if (node !== undefined) this.#drainer.work(node)
  }

  /** A room that went or moves is left by everybody; the nodes that it is or was on follow the store. O(1). */
  #followRoom(roomId: string, room: StoredRoom | undefined): void {
    const { index, live, presence, events } = this.#context
    const after = room?.node ?? ''
    const nodesBefore = index.set(roomId, room)
    const nodes = index.nodesOf(roomId)
    const [before = ''] = nodesBefore
    if (before !== '' && before !== after) {
      const moves = room !== undefined && !room.closed
      if (presence.nodeOf(roomId) === before) {
        events.emitDepartures(before, presence.clear(roomId), moves ? 'The room moves to another MCU.' : '')
      }
      live.get(before)?.placement.follow(roomId)
    }
    const node = live.get(after)
    if (room !== undefined && node !== undefined && !this.#eligibility.mayHave(node, room, true)) {
      void this.#relocation.leave(roomId, after)
    } else node?.placement.follow(roomId)
    if (before !== '' && after !== '' && before !== after)
      events.emit({ type: 'roomMoved', name: after, roomId, from: before })
    const next = index.reservedOn(roomId)
    if (next !== '' && next !== after) live.get(next)?.placement.follow(roomId)
    if (sameNodes(nodesBefore, nodes)) return
    for (const name of [...nodesBefore, ...nodes]) live.get(name)?.placement.follow(roomId)
    events.emit({ type: 'roomNodes', roomId, nodes })
  }

  #lost(node: PoolNode): void {
    const { presence, events } = this.#context
    const rooms = roomsInUse(this.#context, node.name)
    node.placement.forget()
    for (const roomId of presence.roomsOn(node.name)) {
      events.emitDepartures(node.name, presence.clear(roomId), 'The MCU went offline.')
    }
    void this.#relocation.move(rooms)
  }

  #healthy(node: PoolNode): void {
    const { last, lastSuccess } = node.health
    if (last !== undefined) node.placement.healthy(last, lastSuccess)
    this.#drainer.work(node)
  }
}

function sameNodes(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at])
}

/** `host:port` of a URL; empty for none. */
function addressOf(url: string): string {
  const { hostname, port, protocol } = URL.parse(url) ?? { hostname: '', port: '', protocol: '' }
  if (hostname === '') return ''
  return `${hostname}:${port === '' ? (protocol === 'wss:' ? 443 : 80) : port}`
}

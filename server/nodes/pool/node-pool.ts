import type { Deadline } from '../../../shared/deadline.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import type { StoredNode, StoredRoom } from '../../store/records.ts'
import type { MediaNode, NodeDevice, NodeUser } from '../port/media-node-port.ts'
import type { ConnectionTest } from '../port/node-inspection.ts'
import type { PoolEvent } from '../port/pool-events.ts'
import type { ChoiceOptions } from './choice/choose-node.ts'
import { testNode } from './health/connection-test.ts'
import { endedWith } from './pool-ended.ts'
import { type NodePoolOptions, type PoolDependencies, poolParts } from './pool-dependencies.ts'
import type { PoolContext } from './state/pool-context.ts'
import type { PresenceTotals } from './state/presence.ts'
import type { DriftKind, NodeLoad, NodeView } from '../../../shared/domain/nodes.ts'
import { versionOf } from '../../store/edits/record-version.ts'
import { secretNamesOf } from '../secrets/node-secrets.ts'
import type { Announcement } from './node-announcements.ts'
import type { LiveNode } from './state/live-node.ts'

/**
 * All media nodes of the site: the nodes of each room, the users in the rooms, and calls to nodes with their deadlines.
 * Look-ups are O(1) in rooms and users.
 */
export class NodePool {
  readonly #options: NodePoolOptions
  readonly #dependencies: PoolDependencies
  readonly #context: PoolContext
  readonly #unsubscribe: () => void
  #ended = false

  constructor(options: NodePoolOptions) {
    this.#options = options
    this.#dependencies = poolParts(options)
    this.#context = this.#dependencies.context
    this.#unsubscribe = options.store.onChange(
      (changes) => this.#dependencies.following.follow(changes),
      ['rooms', 'nodes'],
    )
  }

  /** Takes the stored nodes into service. Resolves when the first poll of each has ended or its deadline has passed. */
  start(): Promise<void> {
    this.#dependencies.upkeep.start()
    return this.#dependencies.roster.start()
  }

  /** Stops the pool. External nodes keep their rooms. */
  async stop(): Promise<void> {
    this.#ended = true
    this.#unsubscribe()
    this.#dependencies.drainer.stop()
    this.#dependencies.relocation.stop()
    this.#dependencies.upkeep.stop()
    await this.#dependencies.roster.stop()
  }

  onEvent(listener: (event: PoolEvent) => void): () => void {
    return this.#context.events.subscribe(listener)
  }

  /**
   * Returns the name of the room's node for this caller: the primary node or a secondary node. Assigns a node if the
   * room has none that is online. Resolves when the assignment is on disk. Concurrent calls share one attempt.
   * @throws ApiError roomNotFound, roomClosed, noNode, licenceExceeded, nodeTimeout, storage; the signal's reason
   */
  assign(roomId: string, options: ChoiceOptions = {}, signal?: AbortSignal): Promise<string> {
    return this.#orEnded(this.#dependencies.callerNodes.nodeFor(roomId, options, signal))
  }

  /**
   * Returns the name of the room's primary node, which has its devices. Assigns one in the same way as `assign`.
   * @throws the errors of `assign`
   */
  assignOwn(roomId: string, options: ChoiceOptions = {}, signal?: AbortSignal): Promise<string> {
    return this.#orEnded(this.#dependencies.assigner.assign(roomId, options, signal))
  }

  /**
   * Returns `host:port` of a node: its address with this tag, else its first one, else the default.
   * @throws ApiError nodeOffline, noNode
   */
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

  /**
   * Sends the stored room to its nodes. A node that is offline gets it later.
   * @throws ApiError
   */
  update({ room_id }: Pick<StoredRoom, 'room_id'>, signal?: AbortSignal): Promise<void> {
    return this.#dependencies.calls.update(room_id, signal)
  }

  /**
   * Removes all users from the room, and closes it on its nodes; also after its record was deleted. Nodes that are
   * offline close it when they return. After a failure, it is tried again in the background.
   * @throws ApiError nodeTimeout, nodeOffline
   */
  close(roomId: string, signal?: AbortSignal): Promise<void> {
    return this.#dependencies.calls.close(roomId, signal)
  }

  /**
   * Requests the users of a room from its nodes; `usersOf` answers from memory.
   * @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout
   */
  users(roomId: string, signal?: AbortSignal): Promise<NodeUser[]> {
    return this.#orEnded(this.#dependencies.calls.users(roomId, signal))
  }

  /**
   * Ends a user's connection. Returns false if no such user is in the room.
   * @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout
   */
  kick(roomId: string, userId: string, signal?: AbortSignal): Promise<boolean> {
    return this.#orEnded(this.#dependencies.calls.kick(roomId, userId, signal))
  }

  /**
   * Adds a device to its room, which must have been assigned. Resolves when its media flows.
   * @throws DeviceJoinError, also of kind `timeout` if the device rather than the node did not answer; ApiError
   * roomNotFound, roomClosed, neverAssigned, nodeOffline, nodeTimeout
   */
  addDevice(roomId: string, device: NodeDevice, deadline: Deadline): Promise<void> {
    return this.#orEnded(this.#dependencies.calls.addDevice(roomId, device, deadline))
  }

  /**
   * Removes a device from the room.
   * @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout
   */
  removeDevice(roomId: string, userId: string, signal?: AbortSignal): Promise<void> {
    return this.#orEnded(this.#dependencies.calls.removeDevice(roomId, userId, signal))
  }

  /**
   * Stores whether the node drains, and so gets no new rooms. `rooms_left` in `views()` shows the progress.
   * @throws ApiError parameter, storage
   */
  drain(name: string, on: boolean): Promise<void> {
    return this.#dependencies.drainer.set(name, on)
  }

  /** Returns the names of the nodes that hold the room, the primary node first; empty if it has none. O(1). */
  nodesOf(roomId: string): readonly string[] {
    return this.#context.index.nodesOf(roomId)
  }

  /** Returns the rooms that are on several nodes. O(n) in these rooms. */
  roomsOnSeveralNodes(): string[] {
    return this.#context.index.roomsOnSeveralNodes()
  }

  /** Returns the users of the room in the order they joined, devices included. */
  usersOf(roomId: string): readonly NodeUser[] {
    return this.#context.presence.usersOf(roomId)
  }

  user(roomId: string, userId: string): NodeUser | undefined {
    return this.#context.presence.user(roomId, userId)
  }

  /** Returns the name of the node that the user is on; undefined if they are not in the room. O(1). */
  nodeOfUser(roomId: string, userId: string): string | undefined {
    return this.#context.presence.sessionOf(roomId, userId)?.node
  }

  /** Returns the number of users of the room on other nodes than this one, excluding this user. O(1). */
  usersOnOtherNodes(roomId: string, node: string, userId: string): number {
    const { presence } = this.#context
    const at = presence.sessionOf(roomId, userId)?.node
    return presence.count(roomId) - presence.countAt(roomId, node) - (at === undefined || at === node ? 0 : 1)
  }

  /** Returns whether a person or device is in the room. */
  occupied(roomId: string): boolean {
    return this.#context.presence.occupied(roomId)
  }

  /** Returns the number of users of the room, devices included. */
  userCount(roomId: string): number {
    return this.#context.presence.count(roomId)
  }

  /** Returns the number of people in the room, without devices. */
  peopleCount(roomId: string): number {
    return this.#context.presence.peopleIn(roomId)
  }

  /** Returns the number of people in the room with a raised hand. */
  handCount(roomId: string): number {
    return this.#context.presence.handsIn(roomId)
  }

  /** Returns the number of people and devices in rooms, over all nodes. */
  totals(): PresenceTotals {
    return this.#context.presence.totals()
  }

  /** Rooms with people in them, in the order in which the meetings began. */
  get meetings(): ReadonlySet<string> {
    return this.#context.presence.meetings
  }

  /** Returns the load that each node last reported. */
  *loads(): Generator<{ name: string; load: NodeLoad | undefined }> {
    for (const { name, health } of this.#context.live.values()) yield { name, load: health.last?.load }
  }

  /** Number of rooms with at least one user. */
  get occupiedRooms(): number {
    return this.#context.presence.occupiedRooms
  }

  /**
   * Resolves when the state of the room's node is known; undefined: it is known. It is unknown only until the first
   * poll of a controller or node.
   * @throws ApiError nodeOffline after `stop`
   */
  asked(roomId: string): Promise<void> | undefined {
    if (this.#ended) throw endedWith(undefined)
    return this.#context.live.get(this.#context.index.nodeOf(roomId))?.firstPoll
  }

  /**
   * Resolves when the room that lost its node has another one, or none is available; undefined: it does not move. O(1).
   */
  moved(roomId: string): Promise<void> | undefined {
    return this.#dependencies.relocation.moved(roomId)
  }

  /**
   * Resolves when polls have shown whether the room's primary node, which seemed offline, is online.
   * @throws the signal's reason
   */
  async judged(roomId: string, signal: AbortSignal): Promise<void> {
    await this.#context.live.get(this.#context.index.nodeOf(roomId))?.health.judged(signal)
  }

  /** Returns whether the room is assigned to a node that is online now. */
  onOnlineNode(roomId: string): boolean {
    return this.#context.live.get(this.#context.index.nodeOf(roomId))?.serving ?? false
  }

  /**
   * Returns the combined state of all enabled nodes. If all are offline, the state is `unresponsive` if one of them is
   * connected but does not answer (device API 310). Otherwise it is `stopped` (302, 303, 304).
   */
  engine(): 'running' | 'stopped' | 'unresponsive' {
    const nodes = [...this.#context.live.values()].filter(({ leaving }) => !leaving)
    if (nodes.length === 0 || nodes.some(({ health }) => health.state !== 'offline')) return 'running'
    return nodes.some(({ health }) => health.unresponsive) ? 'unresponsive' : 'stopped'
  }

  /** Polls a node at once, because it may be offline. */
  recheck(name: string): void {
    this.#context.live.get(name)?.health.pollSoon()
  }

  /** Returns the driver of an enabled node, for the lab. */
  driver(name: string): MediaNode | undefined {
    return this.#context.live.get(name)?.driver
  }

  /** Returns every node in the form of the console. */
  views(): NodeView[] {
    return viewsOf(this.#context, (name) => this.#dependencies.announcements.stateOf(name))
  }

  /** Returns the amounts of drift found since the start, by node and kind. */
  drifts(): Iterable<{ node: string; kind: DriftKind; count: number }> {
    return this.#context.drift.counts()
  }

  /** Tests a configuration without adding it. */
  testConnection(config: StoredNode): Promise<ConnectionTest> {
    const { drivers, inspections = {} } = this.#options
    return testNode(drivers, inspections, config, this.#context)
  }

  async #orEnded<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      throw this.#ended ? endedWith(error) : error
    }
  }
}

/** Returns `host:port` of a URL; empty if it is invalid. */
function addressOf(url: string): string {
  const { hostname, port, protocol } = URL.parse(url) ?? { hostname: '', port: '', protocol: '' }
  if (hostname === '') return ''
  return `${hostname}:${port === '' ? (protocol === 'wss:' ? 443 : 80) : port}`
}

/** Returns every stored node in the form of the console, in the order of creation. */
function viewsOf(context: PoolContext, stateOf: (name: string) => Announcement | undefined): NodeView[] {
  const { store, presence, index, live, drift } = context
  return Array.from(store.all('nodes').values(), (node) => {
    const { created_at, draining, drain, secrets_sealed: _, ...config } = node
    const announced = stateOf(node.name)
    return {
      config,
      secrets: secretNamesOf(node, store),
      state: announced?.state ?? (node.enabled ? 'connecting' : 'disabled'),
      draining,
      rooms: index.count(node.name),
      users: presence.usersOn(node.name),
      devices: presence.devicesOn(node.name),
      pulls: live.get(node.name)?.health.last?.pulls ?? 0,
      rooms_left: draining ? index.count(node.name) : 0,
      drain: draining
        ? {
            since: drain?.since ?? announced?.since ?? created_at,
            rooms: drain?.rooms ?? 0,
            people_left: presence.peopleOn(node.name),
          }
        : null,
      last_error: announced?.error ?? '',
      since: announced?.since ?? created_at,
      program: programOf(live.get(node.name)),
      unsteady: unsteadyOf(live.get(node.name), context),
      drift: drift.of(node.name),
      version: versionOf('node', node),
    }
  })
}

function programOf(node: LiveNode | undefined): NodeView['program'] {
  const program = node?.driver.program
  if (program === undefined) return null
  const { version, plugins, tells, eventsSince } = program
  return { version, plugins: [...plugins], events: tells, events_since: eventsSince }
}

function unsteadyOf(node: LiveNode | undefined, { clock, now }: PoolContext): NodeView['unsteady'] {
  if (!node?.online || node.steadiness.steady) return null
  const { steadyAt, losses } = node.steadiness
  return { until: Math.ceil(clock() + steadyAt - now()), losses }
}

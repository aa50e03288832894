import type { Deadline } from '../../../shared/deadline.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import type { StoredNode, StoredRoom } from '../../store/records.ts'
import type { MediaNode, NodeDevice, NodeLoad, NodeUser } from '../port/media-node-port.ts'
import type { ConnectionTest } from '../port/node-inspection.ts'
import type { PoolEvent } from '../port/pool-events.ts'
import type { ChoiceOptions } from './choice/choose-node.ts'
import { testConnection } from './health/connection-test.ts'
import { endedWith } from './pool-ended.ts'
import { type NodePoolOptions, type PoolDependencies, poolParts } from './pool-dependencies.ts'
import type { PoolContext } from './state/pool-context.ts'
import type { PresenceTotals } from './state/presence.ts'
import type { DriftKind, NodeView } from '../../../shared/domain/nodes.ts'
import { versionOf } from '../../store/edits/record-version.ts'
import { secretNamesOf } from '../secrets/node-secrets.ts'
import type { Announcement } from './node-announcements.ts'
import type { LiveNode } from './state/live-node.ts'

/**
 * All media nodes of the site: which nodes serve which room, who is in the rooms, and calls to the right node with their deadlines.
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

  /** Takes the stored nodes into service; resolves when the first poll of each has ended or its deadline has passed. */
  start(): Promise<void> {
    this.#dependencies.upkeep.start()
    return this.#dependencies.roster.start()
  }

  /** Ends everything; external nodes keep their rooms. */
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
   * The name of the node of the room that this caller is to use: the room's own, or a secondary node. Gives the room a node where it has none that is online. The assignment is on disk
   * before this resolves. Concurrent calls share one attempt.
   * @throws ApiError roomNotFound, roomClosed, noNode, licenceExceeded, nodeTimeout, storage; the signal's reason
   */
  assign(roomId: string, options: ChoiceOptions = {}, signal?: AbortSignal): Promise<string> {
    return this.#orEnded(this.#dependencies.callerNodes.nodeFor(roomId, options, signal))
  }

  /**
   * Name of the room's own node, which has its devices, whatever node a person would get; assigns one as `assign` does.
   * @throws as `assign`
   */
  assignOwn(roomId: string, options: ChoiceOptions = {}, signal?: AbortSignal): Promise<string> {
    return this.#orEnded(this.#dependencies.assigner.assign(roomId, options, signal))
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

  /** Sends the stored room to its nodes; a node that is offline gets it later. @throws ApiError */
  update({ room_id }: Pick<StoredRoom, 'room_id'>, signal?: AbortSignal): Promise<void> {
    return this.#dependencies.calls.update(room_id, signal)
  }

  /**
   * Everybody is out of the room and its nodes no longer hold it; also after its record is gone. A room on no online node needs no closing: it goes when the node returns.
   * When it fails, it is tried again in the background.
   * @throws ApiError nodeTimeout, nodeOffline
   */
  close(roomId: string, signal?: AbortSignal): Promise<void> {
    return this.#dependencies.calls.close(roomId, signal)
  }

  /** Requests the users of a room from its nodes; `usersOf` answers from memory. @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout */
  users(roomId: string, signal?: AbortSignal): Promise<NodeUser[]> {
    return this.#orEnded(this.#dependencies.calls.users(roomId, signal))
  }

  /** Ends a user's connection; false when no such user is in the room. @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout */
  kick(roomId: string, userId: string, signal?: AbortSignal): Promise<boolean> {
    return this.#orEnded(this.#dependencies.calls.kick(roomId, userId, signal))
  }

  /**
   * Takes a device into its room, which must have been assigned; resolves when its media flows.
   * @throws DeviceJoinError, also of kind `timeout` when the device rather than the node did not answer; ApiError roomNotFound, roomClosed, neverAssigned, nodeOffline, nodeTimeout
   */
  addDevice(roomId: string, device: NodeDevice, deadline: Deadline): Promise<void> {
    return this.#orEnded(this.#dependencies.calls.addDevice(roomId, device, deadline))
  }

  /** The device is out of the room. @throws ApiError roomNotFound, neverAssigned, nodeOffline, nodeTimeout */
  removeDevice(roomId: string, userId: string, signal?: AbortSignal): Promise<void> {
    return this.#orEnded(this.#dependencies.calls.removeDevice(roomId, userId, signal))
  }

  /** Gives the node no new rooms, or again. Durable; how far it is: `rooms_left` in `views()`. @throws ApiError parameter, storage */
  drain(name: string, on: boolean): Promise<void> {
    return this.#dependencies.drainer.set(name, on)
  }

  /** Names of the nodes that hold the room, its own first, then its secondary nodes; empty when it has none. O(1). */
  nodesOf(roomId: string): readonly string[] {
    return this.#context.index.nodesOf(roomId)
  }

  /** Rooms that are on several nodes. Walks these. */
  roomsOnSeveralNodes(): string[] {
    return this.#context.index.roomsOnSeveralNodes()
  }

  /** Users of the room in the order they joined, devices included. */
  usersOf(roomId: string): readonly NodeUser[] {
    return this.#context.presence.usersOf(roomId)
  }

  /** The user if in the room. */
  user(roomId: string, userId: string): NodeUser | undefined {
    return this.#context.presence.user(roomId, userId)
  }

  /** Name of the node of the room that the user is on; undefined when they are not in the room. O(1). */
  nodeOfUser(roomId: string, userId: string): string | undefined {
    return this.#context.presence.sessionOf(roomId, userId)?.node
  }

  /** How many users of the room are on other nodes than that one, leaving out this user. O(1). */
  usersOnOtherNodes(roomId: string, node: string, userId: string): number {
    const { presence } = this.#context
    const at = presence.sessionOf(roomId, userId)?.node
    return presence.count(roomId) - presence.countAt(roomId, node) - (at === undefined || at === node ? 0 : 1)
  }

  /** Somebody is in the room, a person or a device. */
  occupied(roomId: string): boolean {
    return this.#context.presence.occupied(roomId)
  }

  /** How many users the room has, devices included. */
  userCount(roomId: string): number {
    return this.#context.presence.count(roomId)
  }

  /** Number of people in the room, without devices. */
  peopleCount(roomId: string): number {
    return this.#context.presence.peopleIn(roomId)
  }

  /** Number of people of the room who have raised a hand. */
  handCount(roomId: string): number {
    return this.#context.presence.handsIn(roomId)
  }

  /** People and devices in rooms, all nodes together. */
  totals(): PresenceTotals {
    return this.#context.presence.totals()
  }

  /** Rooms with people in them, in the order in which the meetings began. */
  get meetings(): ReadonlySet<string> {
    return this.#context.presence.meetings
  }

  /** Load of each node as it reported last. */
  *loads(): Generator<{ name: string; load: NodeLoad | undefined }> {
    for (const { name, health } of this.#context.live.values()) yield { name, load: health.last?.load }
  }

  /** Rooms with somebody in them. */
  get occupiedRooms(): number {
    return this.#context.presence.occupiedRooms
  }

  /**
   * Resolves when the state of the room's node is known; undefined: it is known, except in the first moments of a controller and of a node.
   * @throws ApiError nodeOffline after the end
   */
  asked(roomId: string): Promise<void> | undefined {
    if (this.#ended) throw endedWith(undefined)
    return this.#context.live.get(this.#context.index.nodeOf(roomId))?.firstPoll
  }

  /** Resolves when the room that lost its node has another one, or none could be had; undefined: it does not move. O(1). */
  moved(roomId: string): Promise<void> | undefined {
    return this.#dependencies.relocation.moved(roomId)
  }

  /** Resolves when the room's own node, which looked gone, was found online or offline. @throws the signal's reason */
  async judged(roomId: string, signal: AbortSignal): Promise<void> {
    await this.#context.live.get(this.#context.index.nodeOf(roomId))?.health.judged(signal)
  }

  /** The room is assigned to a node that is online now. */
  onOnlineNode(roomId: string): boolean {
    return this.#context.live.get(this.#context.index.nodeOf(roomId))?.serving ?? false
  }

  /**
   * State of all enabled nodes once each was polled and none is online: `stopped` (device API 302, 303, 304), or `unresponsive` when one of them is there and does not answer
   * (310).
   */
  engine(): 'running' | 'stopped' | 'unresponsive' {
    const nodes = [...this.#context.live.values()].filter(({ leaving }) => !leaving)
    if (nodes.length === 0 || nodes.some(({ health }) => health.state !== 'offline')) return 'running'
    return nodes.some(({ health }) => health.unresponsive) ? 'unresponsive' : 'stopped'
  }

  /** Something looks wrong with a node: it is polled at once. */
  recheck(name: string): void {
    this.#context.live.get(name)?.health.pollSoon()
  }

  /** The driver of an enabled node, for the lab. */
  driver(name: string): MediaNode | undefined {
    return this.#context.live.get(name)?.driver
  }

  /** Every node as the console shows it. */
  views(): NodeView[] {
    return viewsOf(this.#context, (name) => this.#dependencies.announcements.stateOf(name))
  }

  /** How often which kind of drift was found on which node since the start. */
  drifts(): Iterable<{ node: string; kind: DriftKind; count: number }> {
    return this.#context.drift.counts()
  }

  /** Tries a configuration without adding it. */
  testConnection(config: StoredNode): Promise<ConnectionTest> {
    const { drivers, inspections = {} } = this.#options
    return testConnection(drivers, inspections, config, this.#context)
  }

  async #orEnded<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      throw this.#ended ? endedWith(error) : error
    }
  }
}

/** `host:port` of a URL; empty for none. */
function addressOf(url: string): string {
  const { hostname, port, protocol } = URL.parse(url) ?? { hostname: '', port: '', protocol: '' }
  if (hostname === '') return ''
  return `${hostname}:${port === '' ? (protocol === 'wss:' ? 443 : 80) : port}`
}

/** Every stored node as the console shows it, in the order of creation. */
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

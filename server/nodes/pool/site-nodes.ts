import type { NodeLoad, NodeView } from '../../../shared/domain/nodes.ts'
import type { NodeState } from '../../../shared/node.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { versionOf } from '../../store/record-edits.ts'
import type { StoredNode } from '../../store/records.ts'
import type { MediaNode } from '../port/media-node-port.ts'
import { describeFailure } from '../port/node-failure.ts'
import { secretNamesOf } from '../secrets/node-secrets.ts'
import type { LiveNode } from './state/live-node.ts'
import type { PoolContext } from './state/pool-context.ts'

/**
 * Returns `host:port` for an embedded or simulated node without a configured address; empty if there is none.
 * @param port the node's port; 0: the node port
 */
export type DefaultAddress = (port: number) => string

/** The nodes of the site: their states and addresses, and the state of the node of a room. */
export class SiteNodes {
  readonly #context: PoolContext
  readonly #announcements: NodeAnnouncements
  readonly #defaultAddress: DefaultAddress

  constructor(context: PoolContext, announcements: NodeAnnouncements, defaultAddress: DefaultAddress = () => '') {
    this.#context = context
    this.#announcements = announcements
    this.#defaultAddress = defaultAddress
  }

  /**
   * Returns `host:port` of a node: the address with this tag, or the first address, or the default address.
   * @throws ApiError nodeOffline, noNode
   */
  address(name: string, ipTag = ''): string {
    const config = this.#context.store.get('nodes', name)
    if (config === undefined) throw new ApiError('nodeOffline')
    const address = config.addresses.find(({ tag }) => tag === ipTag) ?? config.addresses[0]
    if (address !== undefined) return address.addr
    const fallback = config.kind === 'janus' ? addressOf(config.ws_url) : this.#defaultAddress(config.port)
    if (fallback === '') throw new ApiError('noNode', { reason: `The node ${name} has no address for clients.` })
    return fallback
  }

  /** Returns every stored node in the form of the console, in the order of creation. */
  views(): NodeView[] {
    return Array.from(this.#context.store.all('nodes').values(), (node) => this.#view(node))
  }

  /** Returns the load that each node last reported. */
  *loads(): Generator<{ name: string; load: NodeLoad | undefined }> {
    for (const { name, health } of this.#context.live.values()) yield { name, load: health.last?.load }
  }

  /**
   * Returns the combined state of all enabled nodes. If all are offline, the state is `unresponsive` if one of them did
   * not answer in time (device API 310). Otherwise it is `stopped` (302, 303, 304).
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

  /** Returns the driver of an enabled node. */
  driver(name: string): MediaNode | undefined {
    return this.#context.live.get(name)?.driver
  }

  /**
   * Resolves when the state of the room's node is known; undefined: it is known already. The state is unknown only
   * until the node's first poll by this controller.
   * @throws ApiError nodeOffline after the pool was stopped
   */
  asked(roomId: string): Promise<void> | undefined {
    this.#context.lifetime.check()
    return this.#ofRoom(roomId)?.firstPoll
  }

  /**
   * Resolves when polls have shown whether the room's primary node, which seemed offline, is online.
   * @throws the signal's reason
   */
  async judged(roomId: string, signal: AbortSignal): Promise<void> {
    await this.#ofRoom(roomId)?.health.judged(signal)
  }

  /** Returns whether the room is assigned to a node that is online now. */
  onOnlineNode(roomId: string): boolean {
    return this.#ofRoom(roomId)?.serving ?? false
  }

  #ofRoom(roomId: string): LiveNode | undefined {
    return this.#context.live.get(this.#context.index.nodeOf(roomId))
  }

  #view(node: StoredNode): NodeView {
    const { store, presence, index, live, drift } = this.#context
    const { created_at, draining, drain, secrets_sealed: _, ...config } = node
    const { name } = node
    const announced = this.#announcements.stateOf(name)
    const inService = live.get(name)
    return {
      config,
      secrets: secretNamesOf(node, store),
      state: announced?.state ?? (node.enabled ? 'connecting' : 'disabled'),
      draining,
      rooms: index.count(name),
      users: presence.usersOn(name),
      devices: presence.devicesOn(name),
      pulls: inService?.health.last?.pulls ?? 0,
      rooms_left: draining ? index.count(name) : 0,
      drain: draining
        ? {
            since: drain?.since ?? announced?.since ?? created_at,
            rooms: drain?.rooms ?? 0,
            people_left: presence.peopleOn(name),
          }
        : null,
      last_error: announced?.error ?? '',
      since: announced?.since ?? created_at,
      program: programOf(inService),
      unsteady: unsteadyOf(inService, this.#context),
      drift: drift.of(name),
      version: versionOf('node', node),
    }
  }
}

/** Returns `host:port` of a URL; empty if it is invalid. */
function addressOf(url: string): string {
  const { hostname, port, protocol } = URL.parse(url) ?? { hostname: '', port: '', protocol: '' }
  if (hostname === '') return ''
  return `${hostname}:${port === '' ? (protocol === 'wss:' ? 443 : 80) : port}`
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

interface Announcement {
  state: NodeState
  /** Reason why the node is offline, in plain words; otherwise empty. */
  error: string
  /** Time at which the state began, in milliseconds since the epoch. */
  since: number
}

/** Announces the state of each node when it changes. */
export class NodeAnnouncements {
  readonly #context: PoolContext
  readonly #announced = new Map<string, Announcement>()
  /** Reason why each node is offline, by name. */
  readonly #errors = new Map<string, string>()

  constructor(context: PoolContext) {
    this.#context = context
  }

  /**
   * Stores the reason why a node is offline, and announces its state.
   * @param error undefined: the node is not offline
   */
  note(node: Pick<LiveNode, 'name'>, error: unknown): void {
    if (error === undefined) this.#errors.delete(node.name)
    else this.#errors.set(node.name, describeFailure(error))
    this.announce(node.name)
  }

  /** Drops the error of a node that goes out of service. */
  clearError(name: string): void {
    this.#errors.delete(name)
  }

  /** Announces the node's state if it changed. */
  announce(name: string): void {
    const { store, events, drift, clock } = this.#context
    const config = store.get('nodes', name)
    if (config === undefined) {
      this.#errors.delete(name)
      drift.forget(name)
      if (this.#announced.delete(name)) events.emit({ type: 'nodeRemoved', name })
      return
    }
    const state = this.#stateOf(config)
    const error = state === 'offline' ? (this.#errors.get(name) ?? '') : ''
    const before = this.#announced.get(name)
    if (before?.state === state && before.error === error) return
    this.#announced.set(name, { state, error, since: before?.state === state ? before.since : clock() })
    events.emit({ type: 'nodeState', name, state, error })
  }

  /** Returns the last announced state of the node. */
  stateOf(name: string): Announcement | undefined {
    return this.#announced.get(name)
  }

  #stateOf(config: StoredNode): NodeState {
    if (!config.enabled) return 'disabled'
    const node = this.#context.live.get(config.name)
    const health = node === undefined || node.leaving ? 'connecting' : node.health.state
    return health === 'online' && config.draining ? 'draining' : health
  }
}

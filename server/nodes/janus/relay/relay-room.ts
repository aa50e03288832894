import type { StoredRelayBridge } from '../../../store/records.ts'
import { NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { describeFailure, type NodeLogger } from '../../port/node-failure.ts'
import { RetryTimers } from './retry-timer.ts'
import { RelayDemands, type RelayRequest } from './relay-demands.ts'
import type { RelayNode } from './relay-node.ts'
import { RelaySite } from './relay-site.ts'
import type { PublishedFeed } from '../people/room-feeds.ts'
import { planRelays, type RelayStep } from './relay-tree.ts'
import type { ObservedPublication } from './room-observer.ts'
import { RoomRelay } from './room-relay.ts'

export interface RelayRoomOptions {
  roomId: string
  /** Maximum number of nodes to which one node relays the same stream. */
  fanOut: number
  /** Time for which a stream is still relayed after its last viewer left, in milliseconds. */
  graceMs: number
  /** Time for which a relay of a previous controller is kept without a viewer, in milliseconds. */
  leftMs: number
  /** Called when the publishers or relayed streams of the room may have changed. */
  changed: () => void
  logger: NodeLogger
}

/** Current state of a relay. */
export interface RelayRoomView extends RelayStep {
  isUp: boolean
  /** Time of the last change of `isUp`, in milliseconds since the epoch. */
  since: number
}

/** Interval of the health checks of nodes that are the source of a relay, in milliseconds. */
const checkMs = 400

/**
 * The relays of one room. After each change, the existing relays are compared with the planned relays, and the
 * differences are applied. Relays of a previous controller, and relays from before a lost connection, are kept if media
 * still flows through them.
 */
export class RelayRoom {
  readonly #options: RelayRoomOptions
  readonly #sites = new Map<string, RelaySite>()
  readonly #demands: RelayDemands
  readonly #relays = new Map<string, RoomRelay>()
  readonly #retries = new RetryTimers(() => this.#look())
  readonly #work = new Set<Promise<void>>()
  readonly #beganAt = performance.now()
  #checks: NodeJS.Timeout | undefined
  #isClosed = false
  #isDue = false

  constructor(options: RelayRoomOptions) {
    this.#options = options
    this.#demands = new RelayDemands(options.graceMs, () => this.#look())
  }

  /** Returns whether the object can be discarded: it has no nodes, demands or relays. */
  get isIdle(): boolean {
    return this.#sites.size === 0 && this.#demands.isEmpty && this.#relays.size === 0
  }

  /** Sets the nodes of the room. */
  place(nodes: readonly RelayNode[]): void {
    for (const [name, site] of this.#sites) {
      if (nodes.includes(site.node)) continue
      // The relays must end before the observer leaves, because their subscriptions use the observer's credentials.
      this.#inBackground(this.#settled((step) => step.from === name || step.to === name).then(() => site.close()))
      this.#sites.delete(name)
    }
    const { roomId, logger } = this.#options
    for (const node of nodes) {
      if (this.#sites.has(node.name)) continue
      for (const left of node.records.bridgesTo(node.name, roomId)) this.#inherit(node, left)
      const goesOn = (id: string): boolean => this.#goesOn(node, id)
      this.#sites.set(node.name, new RelaySite({ node, roomId, logger, goesOn, changed: () => this.#look() }))
    }
    this.#look()
  }

  /** Adds demand for a stream, or for all streams, on a node. Returns a function that withdraws the demand. */
  want(request: RelayRequest): () => void {
    return this.#demands.add(request)
  }

  /**
   * Returns the participant that publishes a stream on a node. Waits until the stream is published there.
   * @throws the signal's reason; NodeConnectionError when the relays end
   */
  async feed(stream: string, node: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const now = this.#feedOn(stream, node)
    if (now !== undefined) return now
    if (this.#isClosed) throw new NodeConnectionError('the relays of the room have ended')
    return await this.#demands.met({ stream, node }, signal)
  }

  views(): RelayRoomView[] {
    const there = [...this.#relays.values()].filter(({ state }) => state !== 'ending')
    return there.map(({ step, state, since }) => ({ ...step, isUp: state === 'up', since }))
  }

  /** Returns the streams of people and devices on all nodes, without relayed copies. */
  feeds(): PublishedFeed[] {
    const origins = this.#origins()
    return [...this.#sites].flatMap(([name, { feeds }]) => feeds.filter(({ feedId }) => origins.get(feedId) === name))
  }

  /** Returns the node on which a stream is published. */
  originOf(stream: string): string | undefined {
    return this.#origins().get(stream)
  }

  /** Returns whether the publishers on this node are known. */
  sees(node: string): boolean {
    return this.#sites.get(node)?.isUp === true
  }

  /** Keeps connected relays as they are, and removes those still connecting. Never rejects. */
  async leave(): Promise<void> {
    this.#isClosed = true
    this.#demands.close()
    clearInterval(this.#checks)
    this.#retries.keep(() => false)
    await Promise.all([...this.#sites.values()].map((site) => site.leave()))
    await Promise.all([...this.#relays.values()].map((relay) => relay.leave()))
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  /** Combines all changes of the current microtask into one reconciliation. */
  #look(): void {
    if (this.#isDue || this.#isClosed) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      if (this.#isClosed) return
      this.#reconcile()
      this.#options.changed()
    })
  }

  #reconcile(): void {
    const wanted = new Map(this.#plan().map((step) => [keyOf(step), step]))
    for (const relay of this.#relays.values()) {
      if (relay.left !== undefined) this.#review(relay, relay.left)
      else if (relay.state !== 'ending' && relay.state !== 'claiming' && !this.#isRight(relay, wanted)) this.#end(relay)
    }
    for (const [key, step] of wanted) {
      const source = this.#sourceOf(step)
      // A relay whose source is another relay is opened when that relay is up.
      if (source === undefined || this.#relays.has(key) || this.#retries.isWaiting(key)) continue
      this.#open(step, source)
    }
    this.#watchNodes()
    this.#retries.keep((key) => wanted.has(key) || this.#relays.has(key))
    this.#demands.meet(({ stream, node }) => this.#feedOn(stream, node))
  }

  #watchNodes(): void {
    if (this.#relays.size === 0) {
      clearInterval(this.#checks)
      this.#checks = undefined
      return
    }
    this.#checks ??= setInterval(() => {
      for (const name of new Set(Array.from(this.#relays.values(), ({ step }) => step.from)))
        this.#sites.get(name)?.check()
    }, checkMs).unref()
  }

  #plan(): RelayStep[] {
    if (this.#isClosed) return []
    const up = new Set([...this.#sites.values()].filter(({ isUp }) => isUp).map(({ node }) => node.name))
    const origins = this.#origins()
    const present = [...this.#relays.values()].filter(({ state }) => state !== 'ending').map(({ step }) => step)
    const watched = this.#demands.watched([...origins.keys()])
    return planRelays({ origins, watched, up, fanOut: this.#options.fanOut }, present)
  }

  /**
   * Returns the node on which each stream is published. A user who moved may still be listed on the old node: the most
   * recent join counts.
   */
  #origins(): Map<string, string> {
    const origins = new Map<string, string>()
    const since = new Map<string, number>()
    for (const [name, { node, publications, isUp }] of this.#sites) {
      for (const publication of isUp ? publications.values() : []) {
        const { id } = publication
        if (node.ids.has(id) || (since.get(id) ?? Number.NEGATIVE_INFINITY) >= publication.since) continue
        origins.set(id, name)
        since.set(id, publication.since)
      }
    }
    return origins
  }

  #sourceOf({ stream, from }: RelayStep): ObservedPublication | undefined {
    const site = this.#sites.get(from)
    if (site === undefined) return undefined
    const own = site.publications.get(stream)
    if (own !== undefined) return own
    // The node may still list the publication of a relay that is ending. Only a relay that is up counts.
    const relay = this.#relays.get(keyOf({ stream, to: from }))
    return relay?.state === 'up' ? site.publications.get(site.node.ids.of(stream)) : undefined
  }

  #feedOn(stream: string, node: string): string | undefined {
    return this.#sourceOf({ stream, from: node, to: node })?.id
  }

  /** Returns whether the relay matches the plan, or may match it again shortly. */
  #isRight({ step, source }: RoomRelay, wanted: ReadonlyMap<string, RelayStep>): boolean {
    const now = this.#sourceOf(step)
    const isUnclear = [...this.#relays.values()].some(({ state }) => state === 'left' || state === 'claiming')
    if (!isUnclear) return wanted.get(keyOf(step))?.from === step.from && now === source
    const isLost = [step.from, step.to].some((node) => this.#sites.get(node)?.isUp !== true)
    return !isLost && (now === source || (now === undefined && this.#isFed(step)))
  }

  /**
   * Continues or ends a relay of a previous controller, or postpones the decision until the state of both nodes is
   * known.
   */
  #review(relay: RoomRelay, left: StoredRelayBridge): void {
    const { step } = relay
    const [from, to] = [this.#sites.get(step.from), this.#sites.get(step.to)]
    const records = to?.node.records
    // One of the relay's sessions has ended.
    if (records?.sessionOf(step.from) !== left.from_session || records.sessionOf(step.to) !== left.to_session)
      return this.#end(relay)
    if (this.#retries.isWaiting(keyOf(step)) || this.#mayCome(from) || this.#mayCome(to)) return
    const source = this.#sourceOf(step)
    if (source === undefined && this.#isFed(step)) return
    const isSame = source?.form === left.form && source.display === left.display
    if (from?.isUp !== true || to?.isUp !== true || from.hasDisplaced || source === undefined || !isSame)
      return this.#end(relay)
    this.#inBackground(this.#connecting(relay, () => relay.claim(from.node, source)))
  }

  #mayCome(site: RelaySite | undefined): boolean {
    return site === undefined ? performance.now() - this.#beganAt < this.#options.leftMs : site.isPending
  }

  /** Returns whether a relay to the source node of this step exists, even if it is not up yet. */
  #isFed({ stream, from }: RelayStep): boolean {
    const relay = this.#relays.get(keyOf({ stream, to: from }))
    return relay !== undefined && relay.state !== 'ending'
  }

  #inherit(to: RelayNode, left: StoredRelayBridge): void {
    const { stream, from_node: from } = left
    const step = { stream, from, to: to.name }
    if (this.#relays.has(keyOf(step))) return
    this.#relays.set(keyOf(step), this.#relay(step, to, left))
    this.#demands.hold({ node: to.name, stream }, this.#options.leftMs)
  }

  #goesOn({ name, ids }: RelayNode, id: string): boolean {
    const stream = ids.streamOf(id)
    const state = stream === undefined ? undefined : this.#relays.get(keyOf({ stream, to: name }))?.state
    return state === 'left' || state === 'claiming' || state === 'up'
  }

  #open(step: RelayStep, source: ObservedPublication): void {
    const [from, to] = [this.#sites.get(step.from), this.#sites.get(step.to)]
    const credentials = from?.credentials
    if (from === undefined || to === undefined || credentials === undefined) return
    const relay = this.#relay(step, to.node)
    this.#relays.set(keyOf(step), relay)
    this.#inBackground(this.#connecting(relay, () => relay.open(from.node, source, credentials)))
  }

  #relay(step: RelayStep, to: RelayNode, left?: StoredRelayBridge): RoomRelay {
    const relay: RoomRelay = new RoomRelay({
      step,
      roomId: this.#options.roomId,
      to,
      ...(left === undefined ? {} : { left }),
      ended: (why) => this.#ended(relay, why),
      lost: () => this.#look(),
    })
    return relay
  }

  async #connecting(relay: RoomRelay, connect: () => Promise<void>): Promise<void> {
    try {
      await connect()
      this.#retries.of(keyOf(relay.step)).succeeded()
    } catch (error) {
      if (relay.state !== 'ending') this.#failed(relay, error)
    }
    if (relay.state === 'opening') this.#gone(relay)
    else if (relay.state === 'claiming') this.#end(relay)
    this.#look()
  }

  #failed({ step }: RoomRelay, error: unknown): void {
    if (this.#isClosed) return
    const { logger, roomId } = this.#options
    const fields = { ...step, room: roomId }
    if (error instanceof NodeError) logger.info({ ...fields, error: describeFailure(error) }, 'a relay did not connect')
    else logger.warn({ ...fields, err: error }, 'a relay did not connect')
    this.#retries.of(keyOf(step)).failed()
  }

  #ended(relay: RoomRelay, why: string): void {
    if (this.#isClosed) return
    this.#options.logger.info({ ...relay.step, room: this.#options.roomId, why }, 'a relay ended')
    this.#retries.of(keyOf(relay.step)).failed()
    this.#end(relay)
    // The relay, and the relays that it feeds, are opened again when the relay has been removed.
    this.#look()
  }

  #end(relay: RoomRelay): void {
    if (this.#isClosed) return
    this.#inBackground(this.#takeDown(relay))
  }

  async #takeDown(relay: RoomRelay): Promise<void> {
    await relay.end(this.#sites.get(relay.step.from)?.node)
    this.#gone(relay)
    this.#look()
  }

  #gone(relay: RoomRelay): void {
    const key = keyOf(relay.step)
    if (this.#relays.get(key) === relay) this.#relays.delete(key)
  }

  /** Ends the matching relays. Resolves when they are removed. */
  async #settled(concerns: (step: RelayStep) => boolean): Promise<void> {
    await Promise.all(
      [...this.#relays.values()].filter(({ step }) => concerns(step)).map((relay) => this.#takeDown(relay)),
    )
  }

  #inBackground(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => this.#options.logger.error({ err: error }, 'unexpected error of a relay'))
      .finally(() => this.#work.delete(done))
    this.#work.add(done)
  }
}

function keyOf({ stream, to }: Pick<RelayStep, 'stream' | 'to'>): string {
  return JSON.stringify([stream, to])
}

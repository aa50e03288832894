import { unlessAborted, within } from '../../deadline.ts'
import { NodeConnectionError, NodeError } from '../../media-node.ts'
import { describeFailure, type NodeLogger } from '../../node-failure.ts'
import { Backoff } from './backoff.ts'
import { RelayDemands, type RelayWish } from './relay-demands.ts'
import { RelayLoop } from './relay-loop.ts'
import type { RelayNode } from './relay-node.ts'
import { RelaySite } from './relay-site.ts'
import type { PublishedFeed } from '../people/room-feeds.ts'
import { planRelays, type RelayStep } from './relay-tree.ts'
import type { Publication } from './room-observer.ts'

/** What the relays of one room are made of. */
export interface RelayRoomOptions {
  roomId: string
  /** Nodes to which one node hands the same stream. */
  fanOut: number
  /** How long a stream that nobody watches any more is still handed on, in milliseconds. */
  graceMs: number
  /** Who publishes in it, or what is handed on, may be another than before. */
  changed: () => void
  logger: NodeLogger
}

/** A relay as it is now. */
export interface RelayView extends RelayStep {
  isUp: boolean
  /** Since when it is so, in milliseconds since the epoch. */
  since: number
}

/** A relay, from the first try until it is gone on the node that it handed to. */
interface Running {
  step: RelayStep
  /** What it hands on: when this is another one, so is the relay. */
  source: Publication
  state: 'opening' | 'up' | 'ending'
  /** Since when it is up, or is opened; milliseconds since the epoch. */
  since: number
  loop: RelayLoop | undefined
  stop: AbortController
}

/** Somebody waits for a stream to be on their node. */
interface Waiting {
  wish: RelayWish & { stream: string }
  resolve: (feed: string) => void
}

/** How often nodes that feed others are asked whether they still answer, in milliseconds. */
const checkMs = 400
/** How long a relay may take to connect, in milliseconds. */
const openMs = 5_000

/** The relays of one room: what is there is compared with what should be whenever something happens, and the difference is done. */
export class RelayRoom {
  readonly #options: RelayRoomOptions
  readonly #sites = new Map<string, RelaySite>()
  readonly #demands: RelayDemands
  readonly #running = new Map<string, Running>()
  readonly #backoffs = new Map<string, Backoff>()
  readonly #waiting = new Set<Waiting>()
  readonly #work = new Set<Promise<void>>()
  #checks: NodeJS.Timeout | undefined
  #isClosed = false
  #isDue = false

  constructor(options: RelayRoomOptions) {
    this.#options = options
    this.#demands = new RelayDemands(options.graceMs, () => this.#look())
  }

  /** Nobody needs it any more. */
  get isIdle(): boolean {
    return this.#sites.size === 0 && this.#demands.isEmpty && this.#running.size === 0
  }

  /** The nodes that the room is on. */
  place(nodes: readonly RelayNode[]): void {
    for (const [name, site] of this.#sites) {
      if (nodes.includes(site.node)) continue
      this.#sites.delete(name)
      // Before its observer leaves: whoever subscribes there does it in the observer's name.
      this.#inBackground(this.#settled((step) => step.from === name || step.to === name).then(() => site.close()))
    }
    const { roomId, logger } = this.#options
    for (const node of nodes) {
      if (this.#sites.has(node.name)) continue
      this.#sites.set(node.name, new RelaySite({ node, roomId, logger, changed: () => this.#look() }))
    }
    this.#look()
  }

  /** Somebody on a node wants a stream, or everything. Returns what takes it back. */
  want(wish: RelayWish): () => void {
    return this.#demands.add(wish)
  }

  /** The participant by whom a stream is to be had on a node; resolves when there is one. @throws the signal's reason; NodeConnectionError when the relays end */
  async feed(stream: string, node: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const now = this.#feedOn(stream, node)
    if (now !== undefined) return now
    if (this.#isClosed) throw closedError()
    const { promise, resolve } = Promise.withResolvers<string>()
    const waiting = { wish: { stream, node }, resolve }
    this.#waiting.add(waiting)
    try {
      return await unlessAborted(promise, signal)
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  views(): RelayView[] {
    const there = [...this.#running.values()].filter(({ state }) => state !== 'ending')
    return there.map(({ step, state, since }) => ({ ...step, isUp: state === 'up', since }))
  }

  /** What people and devices publish, on whichever node; what is handed on is no other. */
  feeds(): PublishedFeed[] {
    const origins = this.#origins()
    return [...this.#sites].flatMap(([name, { feeds }]) => feeds.filter(({ feedId }) => origins.get(feedId) === name))
  }

  /** The node on which a stream is published. */
  originOf(stream: string): string | undefined {
    return this.#origins().get(stream)
  }

  /** Who publishes on this node is known. */
  sees(node: string): boolean {
    return this.#sites.get(node)?.isUp === true
  }

  /** Takes everything down. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#demands.close()
    this.place([])
    this.#reconcile()
    for (const backoff of this.#backoffs.values()) backoff.stop()
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  /** Several things that happen together are looked at once. */
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
    for (const running of this.#running.values()) {
      const step = wanted.get(keyOf(running.step))
      const isRight = step?.from === running.step.from && this.#sourceOf(step) === running.source
      if (!isRight && running.state !== 'ending') this.#end(running)
    }
    for (const [key, step] of wanted) {
      const source = this.#sourceOf(step)
      // One that is handed on from another relay waits for it.
      if (source === undefined || this.#running.has(key) || this.#backoffs.get(key)?.isWaiting === true) continue
      this.#open(step, source)
    }
    this.#watchNodes()
    for (const key of this.#backoffs.keys()) if (!wanted.has(key)) this.#forgetBackoff(key)
    for (const { wish, resolve } of this.#waiting) {
      const feed = this.#feedOn(wish.stream, wish.node)
      if (feed !== undefined) resolve(feed)
    }
  }

  #watchNodes(): void {
    if (this.#running.size === 0) {
      clearInterval(this.#checks)
      this.#checks = undefined
      return
    }
    this.#checks ??= setInterval(() => {
      for (const name of new Set(Array.from(this.#running.values(), ({ step }) => step.from)))
        this.#sites.get(name)?.check()
    }, checkMs).unref()
  }

  #plan(): RelayStep[] {
    if (this.#isClosed) return []
    const up = new Set([...this.#sites.values()].filter(({ isUp }) => isUp).map(({ node }) => node.name))
    const origins = this.#origins()
    const present = [...this.#running.values()].filter(({ state }) => state !== 'ending').map(({ step }) => step)
    const watched = this.#demands.watched([...origins.keys()])
    return planRelays({ origins, watched, up, fanOut: this.#options.fanOut }, present)
  }

  /** Where each stream is published. Who came from another node, and may still seem to be there, is where they came last. */
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

  #sourceOf({ stream, from }: RelayStep): Publication | undefined {
    const site = this.#sites.get(from)
    if (site === undefined) return undefined
    const own = site.publications.get(stream)
    if (own !== undefined) return own
    // One that ends may still be seen.
    const relay = this.#running.get(keyOf({ stream, to: from }))
    return relay?.state === 'up' ? site.publications.get(site.node.ids.of(stream)) : undefined
  }

  #feedOn(stream: string, node: string): string | undefined {
    return this.#sourceOf({ stream, from: node, to: node })?.id
  }

  #open(step: RelayStep, source: Publication): void {
    const running: Running = {
      step,
      source,
      state: 'opening',
      since: Date.now(),
      loop: undefined,
      stop: new AbortController(),
    }
    this.#running.set(keyOf(step), running)
    this.#inBackground(this.#connect(running))
  }

  async #connect(running: Running): Promise<void> {
    const { step, source, stop } = running
    const key = keyOf(step)
    const [from, to] = [this.#sites.get(step.from), this.#sites.get(step.to)]
    try {
      const credentials = from?.credentials
      if (from === undefined || to === undefined || credentials === undefined) throw new NodeError('a node is gone')
      const loop = await within({ milliseconds: openMs, signal: stop.signal }, (signal) =>
        RelayLoop.open(
          {
            roomId: this.#options.roomId,
            from: { node: from.node, feed: source.id, credentials },
            to: { node: to.node, id: to.node.ids.of(step.stream), display: source.display },
            ended: (why) => this.#ended(running, why),
          },
          signal,
        ),
      )
      if (stop.signal.aborted) await loop.end()
      else {
        running.loop = loop
        running.state = 'up'
        running.since = Date.now()
        this.#backoffOf(step).succeeded()
      }
    } catch (error) {
      if (!stop.signal.aborted) this.#failed(running, error)
    }
    if (running.state !== 'up') this.#running.delete(key)
    this.#look()
  }

  #failed({ step }: Running, error: unknown): void {
    const { logger, roomId } = this.#options
    const fields = { ...step, room: roomId }
    if (error instanceof NodeError) logger.info({ ...fields, error: describeFailure(error) }, 'a relay did not connect')
    else logger.warn({ ...fields, err: error }, 'a relay did not connect')
    this.#backoffOf(step).failed()
  }

  #ended(running: Running, why: string): void {
    this.#options.logger.info({ ...running.step, room: this.#options.roomId, why }, 'a relay ended')
    this.#backoffOf(running.step).failed()
    if (running.state === 'up') this.#end(running)
    // It is opened again when its end is done; whoever gets the stream from it, too.
    this.#look()
  }

  #end(running: Running): void {
    const { loop, stop, step } = running
    running.state = 'ending'
    stop.abort(new NodeError('the relay is not needed any more'))
    if (loop === undefined) return
    this.#inBackground(
      loop.end().then(() => {
        this.#running.delete(keyOf(step))
        this.#look()
      }),
    )
  }

  /** Resolves when no relay is left of those that end now. */
  async #settled(concerns: (step: RelayStep) => boolean): Promise<void> {
    const ending: Promise<void>[] = []
    for (const running of this.#running.values()) {
      if (!concerns(running.step)) continue
      if (running.state !== 'ending') this.#end(running)
      if (running.loop !== undefined) ending.push(running.loop.end())
    }
    await Promise.all(ending)
  }

  #backoffOf(step: RelayStep): Backoff {
    const key = keyOf(step)
    const backoff = this.#backoffs.get(key) ?? new Backoff(() => this.#look())
    this.#backoffs.set(key, backoff)
    return backoff
  }

  #forgetBackoff(key: string): void {
    this.#backoffs.get(key)?.stop()
    this.#backoffs.delete(key)
  }

  #inBackground(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => this.#options.logger.error({ err: error }, 'a relay failed in an unexpected way'))
      .finally(() => this.#work.delete(done))
    this.#work.add(done)
  }
}

function keyOf({ stream, to }: Pick<RelayStep, 'stream' | 'to'>): string {
  return JSON.stringify([stream, to])
}

function closedError(): NodeConnectionError {
  return new NodeConnectionError('the relays of the room have ended')
}

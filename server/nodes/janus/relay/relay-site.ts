import { mustNotFail } from '../../../../shared/unawaited.ts'
import { within } from '../../port/deadline.ts'
import { isNodeRefusal, NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { describeFailure, type NodeLogger } from '../../port/node-failure.ts'
import type { PublishedFeed } from '../people/room-feeds.ts'
import { RetryTimer } from './retry-timer.ts'
import type { RelayNode } from './relay-node.ts'
import { type ObservedPublication, RoomObserver } from './room-observer.ts'

export interface RelaySiteOptions {
  node: RelayNode
  roomId: string
  /** Called when the publishers on the node changed, or the node started or stopped answering. */
  changed: () => void
  /** Returns whether a participant belongs to a relay that continues. */
  goesOn: (id: string) => boolean
  logger: NodeLogger
}

/** Timeout of a join, in milliseconds. */
const joinMs = 5_000
/**
 * Time until a reachable node must hold the room, in milliseconds. After a takeover, the controller first sends each
 * node its rooms.
 */
const pendingMs = 30_000
/** Interval of the checks of a hanging node, in milliseconds. */
const recheckMs = 1_000
/** Timeout of leaving the room, in milliseconds. */
const leaveMs = 2_000
const none: ReadonlyMap<string, ObservedPublication> = new Map()

/**
 * A room on one of its nodes, in its role for relays. Keeps a relay observer in the room, and joins again whenever the
 * observer is lost.
 */
export class RelaySite {
  readonly node: RelayNode
  readonly #options: RelaySiteOptions
  readonly #closing = new AbortController()
  readonly #retry = new RetryTimer(() => this.#join())
  #observer: RoomObserver | undefined
  #joining: Promise<void> = Promise.resolve()
  #isHanging = false
  /** Time until which the node may still come up, on the clock of `performance.now()`. */
  #pendingUntil = performance.now() + pendingMs
  #isChecking = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: RelaySiteOptions) {
    this.node = options.node
    this.#options = options
    this.#join()
  }

  /** Returns whether the node answers and holds the room. */
  get isUp(): boolean {
    return this.#observer !== undefined && !this.#isHanging
  }

  /**
   * Returns whether the node is not up, but may come up shortly. This is the case until a first attempt to reach it
   * fails, and after its connection was lost.
   */
  get isPending(): boolean {
    return this.#observer === undefined && performance.now() < this.#pendingUntil
  }

  /** See RoomObserver.hasDisplaced. */
  get hasDisplaced(): boolean {
    return this.#observer?.hasDisplaced === true
  }

  /** Publishers of the room on this node. */
  get publications(): ReadonlyMap<string, ObservedPublication> {
    return this.#observer?.publications ?? none
  }

  /** Streams of the room on this node, in the form of the room page. */
  get feeds(): readonly PublishedFeed[] {
    return this.isUp ? (this.#observer?.feeds.list ?? []) : []
  }

  /** Credentials for subscriptions on the node; undefined while the observer is not in the room. */
  get credentials(): RoomObserver['credentials'] | undefined {
    return this.#observer?.credentials
  }

  /** Checks whether the node still answers. A hanging node sends no messages, but its connection stays open. */
  check(): void {
    if (this.#isChecking || this.isPending || this.#closing.signal.aborted) return
    this.#isChecking = true
    const checked = this.node.session.answers().then((answers) => {
      this.#isChecking = false
      if (this.#closing.signal.aborted) return
      const wasHanging = this.#isHanging
      this.#isHanging = !answers
      if (!answers) this.#timer = setTimeout(() => this.check(), recheckMs).unref()
      if (wasHanging !== this.#isHanging) this.#options.changed()
    })
    mustNotFail(checked)
  }

  /** Leaves the room. Never rejects. */
  async close(): Promise<void> {
    await this.#end()
    await this.#observer?.leave(AbortSignal.timeout(leaveMs))
    this.#observer = undefined
  }

  /** Stops, and keeps the observer in the room for the next controller. Never rejects. */
  async leave(): Promise<void> {
    this.node.session.leave()
    await this.#end()
  }

  async #end(): Promise<void> {
    this.#closing.abort(new NodeConnectionError('the room is no longer on this node'))
    this.#retry.stop()
    clearTimeout(this.#timer)
    await this.#joining
  }

  #join(): void {
    this.#joining = this.#tryJoin().then(
      () => this.#retry.succeeded(),
      (error: unknown) => {
        if (this.#closing.signal.aborted) return
        const { logger, roomId, node } = this.#options
        const fields = { node: node.name, room: roomId }
        if (error instanceof NodeError)
          logger.debug(
            { ...fields, error: describeFailure(error) },
            'relay observer could not join a room: trying again',
          )
        else logger.warn({ ...fields, err: error }, 'relay observer could not join a room: trying again')
        // A node that rejects a request is reachable.
        if (!isNodeRefusal(error)) this.#pendingUntil = 0
        this.#retry.failed()
        this.#options.changed()
      },
    )
  }

  async #tryJoin(): Promise<void> {
    const { node, roomId, changed } = this.#options
    await within({ milliseconds: joinMs, signal: this.#closing.signal }, async (signal) => {
      const observer = await RoomObserver.join(
        { node, roomId, changed, ended: (why, isLost) => this.#ended(observer, why, isLost) },
        signal,
      )
      try {
        await this.#clear(observer.relayed, signal)
        signal.throwIfAborted()
      } catch (error) {
        mustNotFail(observer.leave(AbortSignal.timeout(leaveMs)))
        throw error
      }
      if (observer.isOver) throw new NodeConnectionError('it was removed again at once')
      this.#observer = observer
      this.#pendingUntil = 0
      this.#isHanging = false
    })
    changed()
  }

  /** Removes relay participants without a known relay. The controller creates such participants again if needed. */
  async #clear(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const { node, roomId, goesOn } = this.#options
    const left = ids.filter((id) => !goesOn(id))
    await Promise.all(left.map((id) => node.participants.clear({ roomId, id }, signal)))
  }

  #ended(observer: RoomObserver, why: string, isLost: boolean): void {
    if (this.#observer !== observer) return
    this.#observer = undefined
    if (isLost) this.#pendingUntil = performance.now() + pendingMs
    if (this.#closing.signal.aborted) return
    const { logger, roomId, node, changed } = this.#options
    logger.info({ node: node.name, room: roomId, why }, 'relay observer left a room')
    changed()
    this.#retry.failed()
  }
}

import { mustNotFail } from '../../../../shared/unawaited.ts'
import { within } from '../../port/deadline.ts'
import { isRefusal, NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { describeFailure, type NodeLogger } from '../../port/node-failure.ts'
import type { PublishedFeed } from '../people/room-feeds.ts'
import { RetryTimer } from './retry-timer.ts'
import type { RelayNode } from './relay-node.ts'
import { type Publication, RoomObserver } from './room-observer.ts'

/** Needs of one node of a room. */
export interface RelaySiteOptions {
  node: RelayNode
  roomId: string
  /** Called when the publishers there changed, or the node began or ceased to answer. */
  changed: () => void
  /** The participant is that of a relay which goes on. */
  goesOn: (id: string) => boolean
  logger: NodeLogger
}

/** How long a join may take, in milliseconds. */
const joinMs = 5_000
/** How long a node that is reached may take to have the room, in milliseconds: a controller that takes over tells each node of its rooms first. */
const pendingMs = 30_000
/** How often one that hangs is asked whether it still does, in milliseconds. */
const recheckMs = 1_000
/** How long leaving may take, in milliseconds. */
const leaveMs = 2_000
const none: ReadonlyMap<string, Publication> = new Map()

/** A room on one of its nodes, as far as relays are concerned: our observer there, who comes again whenever it must. */
export class RelaySite {
  readonly node: RelayNode
  readonly #options: RelaySiteOptions
  readonly #closing = new AbortController()
  readonly #retry = new RetryTimer(() => this.#join())
  #observer: RoomObserver | undefined
  #joining: Promise<void> = Promise.resolve()
  #isHanging = false
  /** Until when it may be up in a moment, on the clock of `performance.now`. */
  #pendingUntil = performance.now() + pendingMs
  #isChecking = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: RelaySiteOptions) {
    this.node = options.node
    this.#options = options
    this.#join()
  }

  /** The node answers, and holds the room. */
  get isUp(): boolean {
    return this.#observer !== undefined && !this.#isHanging
  }

  /** It is not up, and may be in a moment: nobody has tried in vain to reach the node since the controller began, or its connection was lost. */
  get isPending(): boolean {
    return this.#observer === undefined && performance.now() < this.#pendingUntil
  }

  /** See RoomObserver.hasDisplaced. */
  get hasDisplaced(): boolean {
    return this.#observer?.hasDisplaced === true
  }

  /** Publishers there. */
  get publications(): ReadonlyMap<string, Publication> {
    return this.#observer?.publications ?? none
  }

  /** Streams there, as the room page names them. */
  get feeds(): readonly PublishedFeed[] {
    return this.isUp ? (this.#observer?.feeds.list ?? []) : []
  }

  /** With which we subscribe there; undefined while our observer is not in the room. */
  get credentials(): RoomObserver['credentials'] | undefined {
    return this.#observer?.credentials
  }

  /** Looks whether the node still answers: one that hangs sends nothing, and says nothing of it. */
  check(): void {
    if (this.#isChecking || this.isPending || this.#closing.signal.aborted) return
    this.#isChecking = true
    const checked = this.node.answers().then((answers) => {
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

  /** Everything stays as it is, for the next controller. Never rejects. */
  async leave(): Promise<void> {
    this.node.leave()
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
          logger.debug({ ...fields, error: describeFailure(error) }, 'relays do not see a room: tried again')
        else logger.warn({ ...fields, err: error }, 'relays do not see a room: tried again')
        // A node that refuses is there.
        if (!isRefusal(error)) this.#pendingUntil = 0
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

  /** Removes participants that nobody remembers: they are made again if they are needed. */
  async #clear(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const { node, roomId, goesOn } = this.#options
    const left = ids.filter((id) => !goesOn(id))
    await Promise.all(left.map((id) => node.clear({ roomId, id }, signal)))
  }

  #ended(observer: RoomObserver, why: string, isLost: boolean): void {
    if (this.#observer !== observer) return
    this.#observer = undefined
    if (isLost) this.#pendingUntil = performance.now() + pendingMs
    if (this.#closing.signal.aborted) return
    const { logger, roomId, node, changed } = this.#options
    logger.info({ node: node.name, room: roomId, why }, 'relays do not see a room any more')
    changed()
    this.#retry.failed()
  }
}

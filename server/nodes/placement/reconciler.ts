import { DeadlineError } from '../deadline.ts'
import { NodeConnectionError, type NodeUser } from '../media-node.ts'
import { describeFailure } from '../node-failure.ts'
import { type PoolContext, roomHeldBy } from '../pool-context.ts'
import type { PoolNode } from '../pool-node.ts'
import type { RoomCloser } from './room-closer.ts'
import type { RoomOpener } from './room-opener.ts'
import { inSlices } from '../slices.ts'

/** How many rooms are compared or opened together. */
const sliceSize = 32
/** Rooms that may go unanswered before a comparison is given up until the next good poll. */
const unansweredAtMost = 3
/** How often the users of a room are read anew because somebody came or went meanwhile. */
const readsAtMost = 3

/** One comparison: its node, what ends it, and what went wrong so far. */
interface Run {
  node: PoolNode
  signal: AbortSignal
  unanswered: number
}

/**
 * Makes a node that came (back) agree with the store: rooms that are not its own are closed there, who is in its own is read, and those it lost are opened again,
 * in slices with the requests between them.
 */
export class Reconciler {
  readonly #context: PoolContext
  readonly #opener: RoomOpener
  readonly #closer: RoomCloser
  readonly #assigning: (roomId: string) => boolean

  /** `assigning` says whether a room is being given a node now: then it is nobody's leftover. */
  constructor(context: PoolContext, opener: RoomOpener, closer: RoomCloser, assigning: (roomId: string) => boolean) {
    this.#context = context
    this.#opener = opener
    this.#closer = closer
    this.#assigning = assigning
  }

  /** Compares in the background; when it fails, the next good poll begins it again. */
  begin(node: PoolNode): void {
    const controller = new AbortController()
    node.reconciling = controller
    node.needsReconcile = false
    node.touched.clear()
    const run = { node, signal: controller.signal, unanswered: 0 }
    this.#compare(run)
      .catch((error: unknown) => {
        if (controller.signal.aborted) return
        node.needsReconcile = true
        const fields = { node: node.name, error: describeFailure(error) }
        this.#context.logger.warn(
          fields,
          'a node could not be compared with the store: tried again after the next good poll',
        )
      })
      .finally(() => {
        if (node.reconciling !== controller) return
        node.reconciling = undefined
        node.touched.clear()
      })
  }

  async #compare(run: Run): Promise<void> {
    const { node, signal } = run
    const { presence, index, events, deadlines, logger } = this.#context
    const held = new Set(await node.ask(deadlines().node_ms, signal, (driver, inner) => driver.rooms(inner)))
    signal.throwIfAborted()
    const own = new Set<string>()
    for (const roomId of held) {
      if (roomHeldBy(this.#context, node, roomId) !== undefined) own.add(roomId)
      else if (!this.#assigning(roomId)) this.#closer.later(node, roomId)
    }
    for (const roomId of presence.roomsOn(node.name)) {
      if (held.has(roomId) || node.opened.has(roomId)) own.add(roomId)
      else events.emitDepartures(node.name, presence.clear(roomId), 'The MCU was restarted.')
    }
    await inSlices([...own], sliceSize, signal, (roomId) => this.#tolerant(run, () => this.#adopt(run, roomId)))
    events.emit({ type: 'online', name: node.name })
    const lost = index.roomsOf(node.name).filter((roomId) => !node.opened.has(roomId))
    await inSlices(lost, sliceSize, signal, (roomId) => this.#tolerant(run, () => this.#open(run, roomId)))
    logger.info({ node: node.name, kept: own.size, opened: lost.length }, 'a node agrees with the store')
  }

  async #open({ node, signal }: Run, roomId: string): Promise<boolean> {
    const until = performance.now() + this.#context.deadlines().node_ms
    return (await this.#opener.open(node, roomId, { until, signal })) !== undefined
  }

  /** The room is as stored, and presence is as the node says. */
  async #adopt(run: Run, roomId: string): Promise<void> {
    if (!(await this.#open(run, roomId))) return
    const { node, signal } = run
    const milliseconds = this.#context.deadlines().node_ms
    let users: readonly NodeUser[] = []
    for (let reads = 0; reads < readsAtMost; reads += 1) {
      node.touched.delete(roomId)
      users = await node.ask(milliseconds, signal, (driver, inner) => driver.users(roomId, inner))
      if (!node.touched.has(roomId)) break
    }
    if (roomHeldBy(this.#context, node, roomId) !== undefined) this.#settle(node, roomId, users)
  }

  #settle(node: PoolNode, roomId: string, users: readonly NodeUser[]): void {
    const { presence, events } = this.#context
    const present = new Map(users.map((user) => [user.userId, user]))
    for (const known of presence.usersOf(roomId)) {
      const now = present.get(known.userId)
      if (presence.nodeOf(roomId) === node.name && now?.joinedAt === known.joinedAt) continue
      const from = presence.nodeOf(roomId) ?? node.name
      presence.leave(roomId, known.userId)
      events.emitDepartures(from, [{ roomId, user: known }], now === undefined ? 'The MCU was restarted.' : '')
    }
    for (const user of users) {
      if (presence.user(roomId, user.userId) !== undefined) continue
      presence.join(node.name, roomId, user)
      events.emit({ type: 'joined', name: node.name, roomId, user })
    }
  }

  /** One room that the node refuses does not keep the others from being compared. */
  async #tolerant(run: Run, step: () => Promise<unknown>): Promise<void> {
    try {
      await step()
    } catch (error) {
      if (run.signal.aborted || error instanceof NodeConnectionError) throw error
      if (error instanceof DeadlineError) run.unanswered += 1
      if (run.unanswered > unansweredAtMost) throw error
      this.#context.logger.warn({ node: run.node.name, error: describeFailure(error) }, 'a room could not be compared')
    }
  }
}

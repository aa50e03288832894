import { inBackground } from '../../../../shared/unawaited.ts'
import type { StoredRoom } from '../../../store/records.ts'
import { runWithConcurrency } from '../../port/concurrency.ts'
import { isShut } from '../../../schedule/room-hours.ts'
import { isSecondary, onNodes } from '../state/room-nodes.ts'
import type { PoolContext } from '../state/pool-context.ts'
import { type Eligibility, isGone, successorOf } from './choose-node.ts'
import type { Relocation } from './relocation.ts'

/** Number of rooms whose secondary nodes are changed in one transaction. */
const sliceSize = 100

interface Secondary {
  roomId: string
  node: string
}

export interface SecondaryUpkeepOptions {
  context: PoolContext
  eligibility: Eligibility
  relocation: Relocation
  /** Time for which a secondary node without people is kept, in milliseconds. */
  idleMs: number
}

/**
 * Removes secondary nodes from their rooms if they had no people for a while, or are no longer available. If a room's
 * primary node fails or drains, one of the room's secondary nodes replaces it. A change that cannot be stored is
 * retried.
 */
export class SecondaryUpkeep {
  readonly #options: SecondaryUpkeepOptions
  /** Secondary nodes to check, in the order of `until`, on the clock of `performance.now()`. */
  readonly #idle = new Map<string, Secondary & { until: number }>()
  readonly #stopper = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(options: SecondaryUpkeepOptions) {
    this.#options = options
  }

  /** Schedules a check of all stored secondary nodes, which may be unused. */
  start(): void {
    const { index } = this.#options.context
    for (const roomId of index.roomsOnSeveralNodes()) {
      for (const node of index.nodesOf(roomId)) this.used(roomId, node)
    }
  }

  stop(): void {
    this.#stopper.abort(new Error('the node pool was stopped'))
    clearTimeout(this.#timer)
    this.#idle.clear()
  }

  /**
   * Restarts the idle time of a secondary node that is new, was assigned to a caller, or lost its last user. Ignores
   * other nodes. O(1).
   */
  used(roomId: string, node: string): void {
    const { context, idleMs } = this.#options
    if (this.#stopper.signal.aborted || !context.index.isSecondary(roomId, node)) return
    this.#rest({ roomId, node }, performance.now() + idleMs)
  }

  /**
   * Handles the failure, draining or return of a node: updates the rooms that use the node and have secondary nodes.
   * Never rejects.
   */
  async review(node: string): Promise<void> {
    const { context, relocation } = this.#options
    const { store, index, presence } = context
    const rooms = index.roomsWithSecondaryOn(node)
    if (rooms.length === 0) return
    const orphaned = rooms.filter((roomId) => {
      const room = store.get('rooms', roomId)
      return room !== undefined && this.#needsSuccessor(room)
    })
    await relocation.move(orphaned.map((roomId) => ({ roomId, users: presence.count(roomId) })))
    await this.#drop(
      rooms.map((roomId) => ({ roomId, node })),
      () => isGone(context, node),
    )
  }

  /** Returns whether the primary node failed or drains, and a secondary node can replace it. */
  #needsSuccessor(room: StoredRoom): boolean {
    const { context, eligibility } = this.#options
    if (isShut(room)) return false
    const isOver = isGone(context, room.node) || context.live.get(room.node)?.config.draining === true
    return isOver && successorOf(context, eligibility, room) !== undefined
  }

  #rest(secondary: Secondary, until: number): void {
    const key = keyOf(secondary)
    this.#idle.delete(key)
    this.#idle.set(key, { ...secondary, until })
    this.#schedule()
  }

  #schedule(): void {
    const [first] = this.#idle.values()
    if (this.#timer !== undefined || first === undefined) return
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        const swept = this.#sweep().finally(() => this.#schedule())
        inBackground(swept, 'idle secondary nodes of rooms were not given up', this.#options.context.logger)
      },
      Math.max(0, first.until - performance.now()),
    )
    this.#timer.unref()
  }

  /** Removes secondary nodes whose idle time has passed, unless people are on them. */
  async #sweep(): Promise<void> {
    const { index, presence } = this.#options.context
    const now = performance.now()
    const due: Secondary[] = []
    for (const [key, secondary] of this.#idle) {
      if (secondary.until > now) break
      this.#idle.delete(key)
      const { roomId, node } = secondary
      if (!index.isSecondary(roomId, node) || presence.peopleAt(roomId, node) > 0) continue
      if (this.#isKnown(secondary)) due.push(secondary)
      else this.used(roomId, node)
    }
    await this.#drop(due, ({ roomId, node }) => presence.peopleAt(roomId, node) === 0)
  }

  /** Returns whether the users on the secondary node are known. They are unknown until the node holds the room. */
  #isKnown({ roomId, node }: Secondary): boolean {
    const { context } = this.#options
    const room = context.store.get('rooms', roomId)
    if ((room !== undefined && isShut(room)) || isGone(context, node)) return true
    return context.live.get(node)?.placement.isOpen(roomId) === true
  }

  /**
   * Removes these secondary nodes from their rooms if `isOver` still returns true. If the change cannot be stored,
   * their idle time starts again.
   */
  async #drop(secondaries: readonly Secondary[], isOver: (secondary: Secondary) => boolean): Promise<void> {
    const { signal } = this.#stopper
    const slices = Array.from({ length: Math.ceil(secondaries.length / sliceSize) }, (_, number) =>
      secondaries.slice(number * sliceSize, (number + 1) * sliceSize),
    )
    await runWithConcurrency(
      1,
      () => (signal.aborted ? undefined : slices.shift()),
      (slice) => this.#dropSlice(slice, isOver),
    )
  }

  async #dropSlice(secondaries: readonly Secondary[], isOver: (secondary: Secondary) => boolean): Promise<void> {
    const { store, logger } = this.#options.context
    try {
      await store.transact(
        secondaries.map(({ roomId }) => `rooms/${roomId}`),
        (transaction) => {
          const changed = new Map<string, StoredRoom>()
          for (const secondary of secondaries) {
            const room = changed.get(secondary.roomId) ?? store.get('rooms', secondary.roomId)
            if (room === undefined || !isSecondary(room, secondary.node) || !isOver(secondary)) continue
            const others = (room.branches ?? []).filter((name) => name !== secondary.node)
            changed.set(secondary.roomId, onNodes(room, room.node, others))
          }
          for (const [roomId, room] of changed) transaction.put('rooms', roomId, room)
        },
      )
    } catch (error) {
      if (this.#stopper.signal.aborted) return
      logger.warn({ err: error }, 'secondary nodes of rooms could not be given up: tried again later')
      for (const { roomId, node } of secondaries) this.used(roomId, node)
    }
  }
}

/** Names of nodes contain no line break. */
function keyOf({ roomId, node }: Secondary): string {
  return `${node}\n${roomId}`
}

import type { StoredRoom } from '../../../store/records.ts'
import { inLanes } from '../../port/lanes.ts'
import { isBranch, onNodes } from '../state/room-nodes.ts'
import type { PoolContext } from '../state/pool-context.ts'
import { isGone, successorOf } from './branches.ts'
import type { Eligibility } from './eligibility.ts'
import type { Relocation } from './relocation.ts'

/** Rooms whose branches are changed in one transaction. */
const sliceSize = 100

/** A branch of a room. */
interface Branch {
  roomId: string
  node: string
}

/** What the upkeep of branches is made of. */
export interface BranchUpkeepOptions {
  context: PoolContext
  eligibility: Eligibility
  relocation: Relocation
  /** So long a branch without people is kept, in milliseconds. */
  idleMs: number
}

/**
 * Gives branches up that nobody needs: nobody was there for a while, or their node is over. Where a room's own node is over or drains, one of its branches becomes the room's own.
 * What cannot be stored is tried again.
 */
export class BranchUpkeep {
  readonly #options: BranchUpkeepOptions
  /** Branches without people, in the order in which their time is up, on the clock of `performance.now()`. */
  readonly #idle = new Map<string, Branch & { until: number }>()
  readonly #stopper = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(options: BranchUpkeepOptions) {
    this.#options = options
  }

  /** Branches of before are looked at: nobody may come to them any more. */
  start(): void {
    const { index } = this.#options.context
    for (const roomId of index.branchedRooms()) {
      for (const node of index.nodesOf(roomId)) this.used(roomId, node)
    }
  }

  stop(): void {
    this.#stopper.abort(new Error('the node pool was stopped'))
    clearTimeout(this.#timer)
    this.#idle.clear()
  }

  /** The branch is new, somebody was sent to it, or the last one there left: its time begins anew. What is no branch is none of its business. O(1). */
  used(roomId: string, node: string): void {
    const { context, idleMs } = this.#options
    if (this.#stopper.signal.aborted || !context.index.isBranch(roomId, node)) return
    this.#rest({ roomId, node }, performance.now() + idleMs)
  }

  /** The node is over, drains, or is there again: what that means for the branches of its rooms is done. Never rejects. */
  async review(node: string): Promise<void> {
    const { context, relocation } = this.#options
    const { store, index, presence } = context
    const rooms = index.branchedRoomsOn(node)
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

  /** Its own node is over or drains, and a branch can take its place. */
  #needsSuccessor(room: StoredRoom): boolean {
    const { context, eligibility } = this.#options
    if (room.closed) return false
    const isOver = isGone(context, room.node) || context.live.get(room.node)?.config.draining === true
    return isOver && successorOf(context, eligibility, room) !== undefined
  }

  #rest(branch: Branch, until: number): void {
    const key = keyOf(branch)
    this.#idle.delete(key)
    this.#idle.set(key, { ...branch, until })
    this.#schedule()
  }

  #schedule(): void {
    const [first] = this.#idle.values()
    if (this.#timer !== undefined || first === undefined) return
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        void this.#sweep().finally(() => this.#schedule())
      },
      Math.max(0, first.until - performance.now()),
    )
    this.#timer.unref()
  }

  /** Branches whose time is up go, unless somebody is there. */
  async #sweep(): Promise<void> {
    const { index, presence } = this.#options.context
    const now = performance.now()
    const due: Branch[] = []
    for (const [key, branch] of this.#idle) {
      if (branch.until > now) break
      this.#idle.delete(key)
      const { roomId, node } = branch
      if (!index.isBranch(roomId, node) || presence.peopleAt(roomId, node) > 0) continue
      if (this.#isKnown(branch)) due.push(branch)
      else this.used(roomId, node)
    }
    await this.#drop(due, ({ roomId, node }) => presence.peopleAt(roomId, node) === 0)
  }

  /** Who is there is known: of a node that is there, not before it was asked. */
  #isKnown({ roomId, node }: Branch): boolean {
    const { context } = this.#options
    if (context.store.get('rooms', roomId)?.closed === true || isGone(context, node)) return true
    return context.live.get(node)?.placement.isOpen(roomId) === true
  }

  /** These branches are given up as far as `isOver` still says so. What cannot be stored is idle again. */
  async #drop(branches: readonly Branch[], isOver: (branch: Branch) => boolean): Promise<void> {
    const { signal } = this.#stopper
    const slices = Array.from({ length: Math.ceil(branches.length / sliceSize) }, (_, number) =>
      branches.slice(number * sliceSize, (number + 1) * sliceSize),
    )
    await inLanes(
      1,
      () => (signal.aborted ? undefined : slices.shift()),
      (slice) => this.#dropSlice(slice, isOver),
    )
  }

  async #dropSlice(branches: readonly Branch[], isOver: (branch: Branch) => boolean): Promise<void> {
    const { store, logger } = this.#options.context
    try {
      await store.transact(
        branches.map(({ roomId }) => `rooms/${roomId}`),
        (transaction) => {
          const changed = new Map<string, StoredRoom>()
          for (const branch of branches) {
            const room = changed.get(branch.roomId) ?? store.get('rooms', branch.roomId)
            if (room === undefined || !isBranch(room, branch.node) || !isOver(branch)) continue
            const others = (room.branches ?? []).filter((name) => name !== branch.node)
            changed.set(branch.roomId, onNodes(room, room.node, others))
          }
          for (const [roomId, room] of changed) transaction.put('rooms', roomId, room)
        },
      )
    } catch (error) {
      if (this.#stopper.signal.aborted) return
      logger.warn({ err: error }, 'branches of rooms could not be given up: tried again later')
      for (const { roomId, node } of branches) this.used(roomId, node)
    }
  }
}

/** No name of a node holds a line break. */
function keyOf({ roomId, node }: Branch): string {
  return `${node}\n${roomId}`
}

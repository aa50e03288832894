import { ApiError } from '../../../shared/result-codes.ts'
import type { StoredRoom } from '../../store/records.ts'
import { type ChoiceOptions, chooseNode } from './choose-node.ts'
import { unlessAborted } from '../deadline.ts'
import { NodeError } from '../media-node.ts'
import { asApiError } from '../node-failure.ts'
import type { PoolContext } from '../pool-context.ts'
import type { PoolNode } from '../pool-node.ts'

/** One attempt to give a room a node: where it stands. */
interface Attempt {
  roomId: string
  idcCode: string
  lab: boolean
  /** On the clock of `performance.now()`. */
  until: number
  /** Names of nodes that are out of the question: the caller's wish, and those that failed in this attempt. */
  excluded: Set<string>
  /** A node failed in this attempt. */
  failed: boolean
}

/** Gives each room its node and keeps it there while the node is online (contract, section 3: get_mcu). */
export class Assigner {
  readonly #context: PoolContext
  /** Attempts under way by room: concurrent callers share one. */
  readonly #attempts = new Map<string, Promise<string>>()

  constructor(context: PoolContext) {
    this.#context = context
  }

  /**
   * The name of the room's node, which holds the room; an assignment is on disk before this resolves.
   * @throws ApiError roomNotFound, roomClosed, noNode, licenceExceeded, nodeTimeout, storage; the signal's reason
   */
  async assign(roomId: string, options: ChoiceOptions, signal?: AbortSignal): Promise<string> {
    const room = this.#existing(roomId)
    const current = this.#keeper(room, options.lab ?? false)
    if (current?.placement.isOpen(roomId)) return current.name
    let attempt = this.#attempts.get(roomId)
    if (attempt === undefined) {
      attempt = this.#run(roomId, options).finally(() => this.#attempts.delete(roomId))
      this.#attempts.set(roomId, attempt)
    }
    return unlessAborted(attempt, signal)
  }

  #existing(roomId: string): StoredRoom {
    const room = this.#context.store.get('rooms', roomId)
    if (room === undefined) throw new ApiError('roomNotFound')
    if (room.closed) throw new ApiError('roomClosed')
    return room
  }

  /** The node the room stays on: online, and when it drains, or is simulated beside real ones, only with people in the room. */
  #keeper(room: StoredRoom, lab: boolean): PoolNode | undefined {
    const node = this.#context.live.get(room.node)
    if (!node?.online) return undefined
    const stays = node.takesRooms && (lab || this.#servesAll(node))
    return stays || this.#context.presence.peopleIn(room.room_id) > 0 ? node : undefined
  }

  /** Nodes that this room may be put on. Who wants media is never put on a simulated node where the site has real ones, even if those are offline. */
  #candidates(lab: boolean): PoolNode[] {
    const ready = [...this.#context.live.values()].filter((node) => node.takesRooms)
    const simulated = lab ? ready.filter(({ config }) => config.kind === 'simulated') : []
    return simulated.length > 0 ? simulated : ready.filter((node) => this.#servesAll(node))
  }

  /** It carries media, or the site has nothing that does. */
  #servesAll({ config }: PoolNode): boolean {
    if (config.kind !== 'simulated') return true
    for (const { kind, enabled } of this.#context.store.all('nodes').values()) {
      if (kind !== 'simulated' && enabled) return false
    }
    return true
  }

  async #run(roomId: string, options: ChoiceOptions): Promise<string> {
    const attempt: Attempt = {
      roomId,
      idcCode: options.idcCode ?? '',
      lab: options.lab ?? false,
      until: performance.now() + this.#context.deadlines().node_ms,
      excluded: new Set(options.exclude),
      failed: false,
    }
    for (;;) {
      const node = this.#next(attempt)
      this.#context.index.reserve(roomId, node.name)
      try {
        if (await this.#tryOn(node, attempt)) return node.name
      } catch (error) {
        if (!(error instanceof NodeError))
          throw asApiError(error, { node: node.name, name: 'openRoom' }, this.#context.logger)
        this.#context.logger.warn({ node: node.name, error: error.message }, 'a node did not take a room')
      } finally {
        this.#context.index.release(roomId)
        // What did not become the room's node gives it up.
        node.placement.follow(roomId)
      }
      attempt.excluded.add(node.name)
      attempt.failed = true
    }
  }

  /** The next node to try. @throws ApiError noNode, licenceExceeded */
  #next(attempt: Attempt): PoolNode {
    const room = this.#existing(attempt.roomId)
    const keeper = this.#keeper(room, attempt.lab)
    if (keeper !== undefined && !attempt.excluded.has(keeper.name)) return keeper
    const choice = chooseNode(this.#candidates(attempt.lab), { idcCode: attempt.idcCode, exclude: attempt.excluded })
    if (choice.ok) return choice.node
    // A draining node keeps what it has when there is nowhere else to go.
    const draining = this.#context.live.get(room.node)
    if (draining?.online && !attempt.excluded.has(draining.name) && (attempt.lab || this.#servesAll(draining))) {
      return draining
    }
    // Where a node with room for it failed, the site is not at its limit: its nodes fail.
    throw new ApiError(attempt.failed ? 'noNode' : choice.reason)
  }

  /** Opens the room on the node and stores the assignment. Resolves to false when the node was lost meanwhile. */
  async #tryOn(node: PoolNode, { roomId, until }: Attempt): Promise<boolean> {
    const told = await node.placement.open(roomId, { until })
    if (told === undefined) {
      this.#existing(roomId)
      return false
    }
    if (told.node === node.name) return true
    if (!(await this.#store(node, roomId))) return false
    // Changed between the answer of the node and the disk: the node is told again.
    await node.placement.open(roomId, { until })
    return true
  }

  /** Stores the assignment; false when the node was lost or drains meanwhile. */
  #store(node: PoolNode, roomId: string): Promise<boolean> {
    const { store, live } = this.#context
    return store.transact([`rooms/${roomId}`], (transaction) => {
      const room = this.#existing(roomId)
      if (live.get(node.name) !== node || !node.takesRooms) return false
      transaction.put('rooms', roomId, { ...room, node: node.name })
      return true
    })
  }
}

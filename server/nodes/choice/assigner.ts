import { ApiError } from '../../../shared/result-codes.ts'
import type { StoredRoom } from '../../store/records.ts'
import { type ChoiceOptions, chooseNode } from './choose-node.ts'
import { unlessAborted } from '../deadline.ts'
import { NodeError } from '../media-node.ts'
import { asApiError } from '../node-failure.ts'
import type { PoolContext } from '../pool-context.ts'
import type { PoolNode } from '../pool-node.ts'
import type { RoomCloser } from '../placement/room-closer.ts'
import type { RoomOpener } from '../placement/room-opener.ts'

/** One attempt to give a room a node: where it stands. */
interface Attempt {
  roomId: string
  idcCode: string
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
  readonly #opener: RoomOpener
  readonly #closer: RoomCloser
  /** Attempts under way by room: concurrent callers share one. */
  readonly #attempts = new Map<string, Promise<string>>()

  constructor(context: PoolContext, opener: RoomOpener, closer: RoomCloser) {
    this.#context = context
    this.#opener = opener
    this.#closer = closer
  }

  /** The room is being given a node now. */
  inProgress(roomId: string): boolean {
    return this.#attempts.has(roomId)
  }

  /**
   * The name of the room's node, which holds the room; an assignment is on disk before this resolves.
   * @throws ApiError roomNotFound, roomClosed, noNode, licenceExceeded, nodeTimeout, storage; the signal's reason
   */
  async assign(roomId: string, options: ChoiceOptions, signal?: AbortSignal): Promise<string> {
    const room = this.#existing(roomId)
    const current = this.#keeper(room)
    if (current?.opened.has(roomId)) return current.name
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

  /** The node the room stays on: online, and when it drains, only with people in the room. */
  #keeper(room: StoredRoom): PoolNode | undefined {
    const node = this.#context.live.get(room.node)
    if (!node?.online) return undefined
    return node.takesRooms || this.#context.presence.peopleIn(room.room_id) > 0 ? node : undefined
  }

  async #run(roomId: string, options: ChoiceOptions): Promise<string> {
    const attempt: Attempt = {
      roomId,
      idcCode: options.idcCode ?? '',
      until: performance.now() + this.#context.deadlines().node_ms,
      excluded: new Set(options.exclude),
      failed: false,
    }
    for (;;) {
      const node = this.#next(attempt)
      node.reserved += 1
      try {
        if (await this.#tryOn(node, attempt)) return node.name
      } catch (error) {
        if (!(error instanceof NodeError))
          throw asApiError(error, { node: node.name, name: 'openRoom' }, this.#context.logger)
        this.#context.logger.warn({ node: node.name, error: error.message }, 'a node did not take a room')
      } finally {
        node.reserved -= 1
      }
      attempt.excluded.add(node.name)
      attempt.failed = true
    }
  }

  /** The next node to try. @throws ApiError noNode, licenceExceeded */
  #next(attempt: Attempt): PoolNode {
    const room = this.#existing(attempt.roomId)
    const keeper = this.#keeper(room)
    if (keeper !== undefined && !attempt.excluded.has(keeper.name)) return keeper
    const candidates = [...this.#context.live.values()].filter((node) => node.takesRooms)
    const choice = chooseNode(candidates, { idcCode: attempt.idcCode, exclude: attempt.excluded })
    if (choice.ok) return choice.node
    // A draining node keeps what it has when there is nowhere else to go.
    const draining = this.#context.live.get(room.node)
    if (draining?.online && !attempt.excluded.has(draining.name)) return draining
    // Where a node with room for it failed, the site is not at its limit: it is in trouble.
    throw new ApiError(attempt.failed ? 'noNode' : choice.reason)
  }

  /** Opens the room on the node and stores the assignment. Resolves to false when the node was lost meanwhile. */
  async #tryOn(node: PoolNode, attempt: Attempt): Promise<boolean> {
    const { roomId, until } = attempt
    const told = await this.#opener.open(node, roomId, { until, assigning: true })
    if (told === undefined) {
      this.#existing(roomId)
      return false
    }
    if (told.node === node.name) return true
    try {
      const outcome = await this.#store(node, told)
      // Changed between the answer of the node and the disk: the node is told again.
      if (outcome === 'changed') await this.#opener.open(node, roomId, { until })
      if (outcome !== 'lost') return true
    } catch (error) {
      this.#closer.later(node, roomId)
      throw error
    }
    this.#closer.later(node, roomId)
    return false
  }

  #store(node: PoolNode, told: StoredRoom): Promise<'stored' | 'changed' | 'lost'> {
    const { store, live } = this.#context
    return store.transact([`rooms/${told.room_id}`], (transaction) => {
      const room = this.#existing(told.room_id)
      if (live.get(node.name) !== node || !node.takesRooms) return 'lost'
      transaction.put('rooms', told.room_id, { ...room, node: node.name })
      return room === told ? 'stored' : 'changed'
    })
  }
}

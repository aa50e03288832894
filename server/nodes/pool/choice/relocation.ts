import { ApiError } from '../../../../shared/result-codes.ts'
import { runWithConcurrency } from '../../port/concurrency.ts'
import type { PoolContext } from '../state/pool-context.ts'
import { onNodes } from '../state/room-nodes.ts'
import type { Assigner } from './assigner.ts'

/** Number of rooms that move at the same time. */
const laneCount = 16

/** A room that lost its node, with its number of people and devices there. */
export interface LeftRoom {
  roomId: string
  users: number
}

/**
 * Returns the rooms of the node with present or expected users. Expected users count because a room may lose its next
 * node before they have arrived.
 */
export function roomsInUse(
  { presence, expected }: Pick<PoolContext, 'presence' | 'expected'>,
  node: string,
): LeftRoom[] {
  const rooms = new Map(expected.roomsOn(node).map(({ roomId, users }) => [roomId, users]))
  for (const roomId of presence.roomsOn(node))
    rooms.set(roomId, presence.countAt(roomId, node) + (rooms.get(roomId) ?? 0))
  return Array.from(rooms, ([roomId, users]) => ({ roomId, users }))
}

/**
 * Assigns another node immediately to rooms with users whose node was lost or goes out of service. Their devices join
 * there, and people find the room open. Other rooms get a node at their next get_mcu.
 */
export class Relocation {
  readonly #context: PoolContext
  readonly #assigner: Assigner
  readonly #stopper = new AbortController()
  /** Rooms that wait for another node, or are moving to it. */
  readonly #moving = new Map<string, PromiseWithResolvers<void>>()

  constructor(context: PoolContext, assigner: Assigner) {
    this.#context = context
    this.#assigner = assigner
  }

  stop(): void {
    this.#stopper.abort(new Error('the node pool was stopped'))
  }

  /**
   * Resolves when the room that lost its node has another node, or no node is available; undefined: the room does not
   * move. O(1).
   */
  moved(roomId: string): Promise<void> | undefined {
    return this.#moving.get(roomId)?.promise
  }

  /**
   * Assigns other nodes. Resolves when each room has another node, or no node is available. Rooms with the most users
   * come first. Never rejects.
   */
  async move(rooms: readonly LeftRoom[]): Promise<void> {
    const waiting = [...rooms].sort((one, other) => other.users - one.users)
    const { signal } = this.#stopper
    const failures: unknown[] = []
    let next = 0
    for (const { roomId } of rooms) {
      if (!this.#moving.has(roomId)) this.#moving.set(roomId, Promise.withResolvers())
    }
    await runWithConcurrency(
      laneCount,
      () => (signal.aborted ? undefined : waiting[next++]),
      async (room) => {
        await this.#moveOne(room).catch((error: unknown) => failures.push(error))
        this.#settle(room)
      },
    )
    for (const room of rooms) this.#settle(room)
    this.#complain(failures)
  }

  /**
   * Removes a room from a node that may no longer hold it. The room gets another node immediately if it has users.
   * Never rejects.
   */
  async leave(roomId: string, name: string): Promise<void> {
    const { store, presence, logger } = this.#context
    const users = presence.count(roomId)
    try {
      await store.transact([`rooms/${roomId}`], (transaction) => {
        const room = store.get('rooms', roomId)
        if (room?.node === name) transaction.put('rooms', roomId, onNodes(room, ''))
      })
    } catch (error) {
      logger.warn({ room: roomId, err: error }, 'a room could not be taken off its node: it leaves at its next get_mcu')
    }
    if (users > 0) await this.move([{ roomId, users }])
  }

  #settle({ roomId }: LeftRoom): void {
    this.#moving.get(roomId)?.resolve()
    this.#moving.delete(roomId)
  }

  async #moveOne({ roomId, users }: LeftRoom): Promise<void> {
    try {
      await this.#assigner.assign(roomId, { users }, this.#stopper.signal)
    } catch (error) {
      if (!isOver(error)) throw error
    }
  }

  #complain(failures: readonly unknown[]): void {
    const [err] = failures
    if (err === undefined || this.#stopper.signal.aborted) return
    this.#context.logger.warn(
      { rooms: failures.length, err },
      'rooms without a node got no other one: each gets one at its next get_mcu',
    )
  }
}

/** Returns whether the room was closed or deleted meanwhile. */
function isOver(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'roomNotFound' || error.code === 'roomClosed')
}

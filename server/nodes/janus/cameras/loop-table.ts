import type { StoredCameraLoop } from '../../../store/records.ts'
import type { NodeDevice, NodeUser } from '../../port/media-node-port.ts'

/** A camera in a room. */
export interface Loop {
  /** As it is kept for the next controller. */
  record: StoredCameraLoop
  /** joining: not in the room yet; up: its media flows; over: it is to go, and may be there still. */
  state: 'joining' | 'up' | 'over'
  /** As somebody wanted it there last; undefined while nobody has since the controller started. */
  device: NodeDevice | undefined
  /** Whether its joining was reported. */
  isTold: boolean
  unwatch: () => void
}

/** A loop of before, or one that begins. */
export function newLoop(record: StoredCameraLoop, state: Loop['state'], device: NodeDevice | undefined): Loop {
  return { record, state, device, isTold: false, unwatch: () => {} }
}

/** The user that it is in its room. */
export function userOf({ user_id, user_name, joined_at }: StoredCameraLoop): NodeUser {
  return { userId: user_id, userName: user_name, device: true, role: 'member', joinedAt: joined_at }
}

/** The loops of a node, by room and user. */
export class LoopTable {
  readonly #rooms = new Map<string, Map<string, Loop>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(roomId: string, userId: string): Loop | undefined {
    return this.#rooms.get(roomId)?.get(userId)
  }

  /** Whether it is the registered bridge of its room and user. */
  has(loop: Loop): boolean {
    return this.get(loop.record.room_id, loop.record.user_id) === loop
  }

  /** In the order they began to join. */
  of(roomId: string): Iterable<Loop> {
    return this.#rooms.get(roomId)?.values() ?? []
  }

  *[Symbol.iterator](): Iterator<Loop> {
    for (const room of this.#rooms.values()) yield* room.values()
  }

  /** There must be none of its room and user. */
  add(loop: Loop): void {
    const { room_id, user_id } = loop.record
    const room = this.#rooms.get(room_id) ?? new Map<string, Loop>()
    this.#rooms.set(room_id, room.set(user_id, loop))
    this.#size += 1
  }

  delete(loop: Loop): void {
    const { room_id, user_id } = loop.record
    const room = this.#rooms.get(room_id)
    if (room?.delete(user_id) !== true) return
    this.#size -= 1
    if (room.size === 0) this.#rooms.delete(room_id)
  }
}

import type { StoredCameraBridge } from '../../../store/records.ts'
import type { NodeDevice, NodeUser } from '../../port/media-node-port.ts'

/** A camera in a room. */
export interface Bridge {
  /** As it is kept for the next controller. */
  record: StoredCameraBridge
  /** joining: not in the room yet; up: its media flows; over: it is to go, and may be there still. */
  state: 'joining' | 'up' | 'over'
  /** As somebody wanted it there last; undefined while nobody has since the controller started. */
  device: NodeDevice | undefined
  /** Whether its joining was reported. */
  isReported: boolean
  unwatch: () => void
}

/** A bridge of before, or one that begins. */
export function newBridge(record: StoredCameraBridge, state: Bridge['state'], device: NodeDevice | undefined): Bridge {
  return { record, state, device, isReported: false, unwatch: () => {} }
}

/** The user that it is in its room. */
export function userOf({ user_id, user_name, joined_at }: StoredCameraBridge): NodeUser {
  return { userId: user_id, userName: user_name, device: true, role: 'member', joinedAt: joined_at }
}

/** The bridges of a node, by room and user. */
export class BridgeTable {
  readonly #rooms = new Map<string, Map<string, Bridge>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(roomId: string, userId: string): Bridge | undefined {
    return this.#rooms.get(roomId)?.get(userId)
  }

  /** Whether it is the registered bridge of its room and user. */
  has(bridge: Bridge): boolean {
    return this.get(bridge.record.room_id, bridge.record.user_id) === bridge
  }

  /** In the order they began to join. */
  of(roomId: string): Iterable<Bridge> {
    return this.#rooms.get(roomId)?.values() ?? []
  }

  *[Symbol.iterator](): Iterator<Bridge> {
    for (const room of this.#rooms.values()) yield* room.values()
  }

  /** There must be none of its room and user. */
  add(bridge: Bridge): void {
    const { room_id, user_id } = bridge.record
    const room = this.#rooms.get(room_id) ?? new Map<string, Bridge>()
    this.#rooms.set(room_id, room.set(user_id, bridge))
    this.#size += 1
  }

  delete(bridge: Bridge): void {
    const { room_id, user_id } = bridge.record
    const room = this.#rooms.get(room_id)
    if (room?.delete(user_id) !== true) return
    this.#size -= 1
    if (room.size === 0) this.#rooms.delete(room_id)
  }
}

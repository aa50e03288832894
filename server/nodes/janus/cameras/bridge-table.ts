import type { StoredCameraBridge } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import type { NodeDevice, NodeUser } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'

/** A camera in a room. */
export interface Bridge {
  /** Record stored for the next controller. */
  record: StoredCameraBridge
  /** joining: not in the room yet; up: its media flows; over: to be removed, but possibly still in the room. */
  state: 'joining' | 'up' | 'over'
  /** Device as last requested; undefined if it was not requested since the controller started. */
  device: NodeDevice | undefined
  /** Whether the `joined` event was emitted. */
  isReported: boolean
  unwatch: () => void
}

/** Creates a bridge, either from a stored record or for a camera that starts to join. */
export function newBridge(record: StoredCameraBridge, state: Bridge['state'], device: NodeDevice | undefined): Bridge {
  return { record, state, device, isReported: false, unwatch: () => {} }
}

/** Returns the user that represents the bridge in its room. */
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

  /** Returns whether this object is the registered bridge of its room and user. */
  has(bridge: Bridge): boolean {
    return this.get(bridge.record.room_id, bridge.record.user_id) === bridge
  }

  /** Returns the bridges of a room in the order in which they started to join. */
  of(roomId: string): Iterable<Bridge> {
    return this.#rooms.get(roomId)?.values() ?? []
  }

  *[Symbol.iterator](): Iterator<Bridge> {
    for (const room of this.#rooms.values()) yield* room.values()
  }

  /** Adds a bridge. The table must not contain another bridge of the same room and user. */
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

/**
 * Bridges of a node, stored for the next controller. Changes are written within milliseconds, in the background: a
 * bridge whose record is lost in a crash is created again.
 */
export class BridgeRecords {
  readonly #store: Pick<Store, 'all' | 'transact'>
  readonly #node: string
  readonly #logger: NodeLogger
  readonly #writing = new Set<Promise<void>>()

  constructor(store: Pick<Store, 'all' | 'transact'>, node: string, logger: NodeLogger) {
    this.#store = store
    this.#node = node
    this.#logger = logger
  }

  /** Returns the stored bridges of the node. */
  all(): StoredCameraBridge[] {
    return [...this.#store.all('camera_loops').values()].filter(({ node }) => node === this.#node)
  }

  put(bridge: StoredCameraBridge): void {
    this.#change(bridge, true)
  }

  delete(bridge: StoredCameraBridge): void {
    this.#change(bridge, false)
  }

  /** Resolves when all pending writes are finished, whether they succeeded or not. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing)
  }

  #change(bridge: StoredCameraBridge, isThere: boolean): void {
    const key = JSON.stringify([this.#node, bridge.room_id, bridge.user_id])
    const written = this.#store
      .transact([`camera_loops/${key}`], (transaction) => {
        if (isThere) transaction.put('camera_loops', key, { ...bridge })
        else transaction.delete('camera_loops', key)
      })
      .catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'could not store a camera of a Janus node: it ends with the controller')
      })
      .finally(() => this.#writing.delete(written))
    this.#writing.add(written)
  }
}

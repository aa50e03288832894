import type { DeviceErrorKind } from '../../../shared/device.ts'
import type { NodeState } from '../../../shared/node.ts'
import type { Shortcoming } from '../../../shared/media/transcoding.ts'
import type { NodeUser } from './media-node-port.ts'
import { guarded } from './guarded.ts'
import type { NodeLogger } from './node-failure.ts'
import type { DriftKind } from '../../../shared/domain/nodes.ts'

/** Somebody who is no longer in a room. */
export interface Departure {
  roomId: string
  user: NodeUser
}

/** Events of the pool for the rest of the controller. */
export type PoolEvent =
  /** A node's state changed; `error` in plain words when it is offline, empty otherwise. */
  | { type: 'nodeState'; name: string; state: NodeState; error: string }
  /** The node is no longer configured. */
  | { type: 'nodeRemoved'; name: string }
  /** These rooms or cameras were otherwise on the node than they should be, and are being put right. */
  | { type: 'drifted'; name: string; kind: DriftKind; subjects: readonly string[] }
  /** The program of the node reports other facts about itself than before. */
  | { type: 'nodeDescribed'; name: string }
  /** The node came (back) and was compared with the store: devices may join on it. */
  | { type: 'online'; name: string }
  /** The room is another node's now: the one before was lost, drained or removed. */
  | { type: 'roomMoved'; name: string; roomId: string; from: string }
  /** The nodes that hold the room are others now: its own first, then its secondary nodes; none when it is gone or has no node. */
  | { type: 'roomNodes'; roomId: string; nodes: readonly string[] }
  | { type: 'joined'; name: string; roomId: string; user: NodeUser }
  /** `lost`: with their node, or because the room moves; people return by themselves. */
  | { type: 'left'; name: string; roomId: string; user: NodeUser; lost?: boolean }
  /** A device dropped, by itself or because its node was lost or its room moves. Its user has left. */
  | { type: 'deviceLost'; name: string; roomId: string; userId: string; kind: DeviceErrorKind; detail: string }
  /** Not everything that a device or person in the room sends is shown, heard and recorded. */
  | { type: 'streamShort'; name: string; roomId: string; user: NodeUser; shortcomings: readonly Shortcoming[] }

/** Listeners to the pool. A listener that throws does not keep the others from their event. */
export class PoolEvents {
  readonly #listeners = new Set<(event: PoolEvent) => void>()
  readonly #logger: NodeLogger

  constructor(logger: NodeLogger) {
    this.#logger = logger
  }

  subscribe(listener: (event: PoolEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  emit(event: PoolEvent): void {
    for (const listener of this.#listeners) {
      guarded(this.#logger, 'a listener of the node pool failed', () => listener(event))
    }
  }

  /** These are no longer in their rooms. With `lost` (why), devices among them are to be joined again, and people return by themselves. */
  emitDepartures(name: string, departures: readonly Departure[], lost = ''): void {
    for (const { roomId, user } of departures) {
      this.emit({ type: 'left', name, roomId, user, ...(lost === '' ? {} : { lost: true }) })
      if (lost === '' || !user.device) continue
      this.emit({ type: 'deviceLost', name, roomId, userId: user.userId, kind: 'nodeFailed', detail: lost })
    }
  }
}

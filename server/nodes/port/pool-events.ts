import type { DeviceErrorKind } from '../../../shared/device.ts'
import type { NodeState } from '../../../shared/node.ts'
import type { Shortcoming } from '../../../shared/media/transcoding.ts'
import type { NodeUser } from './media-node-port.ts'
import { guarded, type NodeLogger } from './node-failure.ts'
import type { DriftKind } from '../../../shared/domain/nodes.ts'

/** A user who is no longer in a room. */
export interface Departure {
  roomId: string
  user: NodeUser
}

/** Events of the pool for the rest of the controller. */
export type PoolEvent =
  /** A node's state changed. `error` describes why the node is offline, and is empty otherwise. */
  | { type: 'nodeState'; name: string; state: NodeState; error: string }
  /** The node is no longer configured. */
  | { type: 'nodeRemoved'; name: string }
  /** These rooms or cameras differed from their desired state on the node, and are being corrected. */
  | { type: 'drifted'; name: string; kind: DriftKind; subjects: readonly string[] }
  /** Version or plugins of the node's program changed, or its events began or stopped arriving. */
  | { type: 'nodeDescribed'; name: string }
  /** The node is online and was compared with the store. Devices may join on it. */
  | { type: 'online'; name: string }
  /** The room was assigned to another node, because the previous node was lost, drained or removed. */
  | { type: 'roomMoved'; name: string; roomId: string; from: string }
  /**
   * The nodes that hold the room changed: the primary node first, then the secondary nodes. Empty if the room was
   * deleted or has no node.
   */
  | { type: 'roomNodes'; roomId: string; nodes: readonly string[] }
  | { type: 'joined'; name: string; roomId: string; user: NodeUser }
  /** `lost`: whether the node was lost, or the room moves. People then reconnect automatically. */
  | { type: 'left'; name: string; roomId: string; user: NodeUser; lost?: boolean }
  /** A device failed, its node was lost, or its room moves. Its user has left. */
  | { type: 'deviceLost'; name: string; roomId: string; userId: string; kind: DeviceErrorKind; detail: string }
  /** Some media that a device or person in the room sends cannot be shown, played or recorded. */
  | { type: 'streamShort'; name: string; roomId: string; user: NodeUser; shortcomings: readonly Shortcoming[] }

/** Listeners to the pool. An exception in one listener does not affect the others. */
export class PoolEvents {
  readonly #listeners = new Set<(event: PoolEvent) => void>()
  readonly #logger: NodeLogger

  constructor(logger: NodeLogger) {
    this.#logger = logger
  }

  /** Returns a function that ends the subscription. */
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

  /**
   * Reports departures. If `lost` gives a reason, devices are reported as lost so that they join again; people
   * reconnect automatically.
   */
  emitDepartures(name: string, departures: readonly Departure[], lost = ''): void {
    for (const { roomId, user } of departures) {
      this.emit({ type: 'left', name, roomId, user, ...(lost === '' ? {} : { lost: true }) })
      if (lost === '' || !user.device) continue
      this.emit({ type: 'deviceLost', name, roomId, userId: user.userId, kind: 'nodeFailed', detail: lost })
    }
  }
}

/** Events of the pool, for listeners. */
export type PoolEventSource = Pick<PoolEvents, 'subscribe'>

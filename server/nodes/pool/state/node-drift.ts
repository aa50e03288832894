import type { PoolEvents } from '../../port/pool-events.ts'
import { type DriftKind, driftKinds, type NodeDriftView } from '../../../../shared/domain/nodes.ts'

/**
 * Deviations from the expected state found on nodes since the controller started, counted by node. Each deviation is
 * emitted once as an event of the pool.
 */
export class NodeDrift {
  readonly #events: PoolEvents
  readonly #clock: () => number
  readonly #nodes = new Map<string, NodeDriftView>()

  /** @param clock returns milliseconds since the epoch */
  constructor(events: PoolEvents, clock: () => number) {
    this.#events = events
    this.#clock = clock
  }

  /**
   * Records deviations that are being corrected. Does nothing if there are none.
   * @param subjects room_ids or userIds; empty if the id is unknown
   */
  found(name: string, kind: DriftKind, subjects: readonly string[]): void {
    const count = subjects.length
    if (count === 0) return
    const { counts } = this.of(name)
    const last = { at: this.#clock(), kind, count, example: subjects.find((subject) => subject !== '') ?? '' }
    this.#nodes.set(name, { counts: { ...counts, [kind]: counts[kind] + count }, last })
    this.#events.emit({ type: 'drifted', name, kind, subjects })
  }

  of(name: string): NodeDriftView {
    return this.#nodes.get(name) ?? nothing
  }

  /** Drops the counts of a node that is no longer configured, because another node may get its name. */
  forget(name: string): void {
    this.#nodes.delete(name)
  }

  /** Returns the counts by kind for each node with deviations. */
  *counts(): Generator<{ node: string; kind: DriftKind; count: number }> {
    for (const [node, { counts }] of this.#nodes)
      for (const kind of driftKinds) if (counts[kind] > 0) yield { node, kind, count: counts[kind] }
  }
}

const nothing: NodeDriftView = {
  counts: { roomMissing: 0, roomUnknown: 0, cameraMissing: 0, cameraUnknown: 0 },
  last: null,
}

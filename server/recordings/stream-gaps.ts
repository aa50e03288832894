import type { Store } from '../store/store.ts'
import type { StoredIndex } from './index/stored-index.ts'
import type { RoomOrders } from './room-orders.ts'
import type { WantedTarget } from './wanted-streams.ts'

/** Maximum number of open gaps read at once. */
const maxGaps = 100_000

/** Begins and ends the gaps in the time lines of streams that are paused or no longer recorded. */
export class StreamGaps {
  readonly #index: StoredIndex
  readonly #store: Store
  readonly #orders: RoomOrders

  constructor(index: StoredIndex, store: Store, orders: RoomOrders) {
    this.#index = index
    this.#store = store
    this.#orders = orders
  }

  /**
   * Ends the gaps of streams that should no longer be recorded, except gaps of paused cameras. @param roomId room;
   * undefined: all rooms
   */
  close(roomId?: string): void {
    const now = Date.now()
    const query = roomId === undefined ? {} : { roomId }
    for (const gap of this.#index.gaps({ ...query, from: now, limit: maxGaps })) {
      const isPaused = gap.reason === 'paused' && this.#store.get('devices', gap.userId)?.paused === true
      if (gap.to === null && !isPaused && !this.#orders.wants(gap)) this.#index.writer.endGap(gap, now)
    }
  }

  /** Adds a gap for each camera that was a target before and is now paused. */
  notePaused(roomId: string, before: readonly WantedTarget[], after: readonly WantedTarget[]): void {
    for (const { userId, quality, device } of before) {
      const camera = this.#store.get('devices', userId)
      if (!device || camera?.paused !== true || after.some((target) => target.userId === userId)) continue
      const gap = { roomId, userId, source: 'main', quality, from: Date.now(), to: null, reason: 'paused' } as const
      const topic = this.#store.get('rooms', roomId)?.topic ?? ''
      this.#index.writer.gap(gap, { userName: camera.userName, topic, device })
    }
  }
}

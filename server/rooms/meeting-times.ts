import { clearInterval, setInterval } from 'node:timers'
import type { PoolEvent } from '../nodes/port/pool-events.ts'
import type { Store } from '../store/store.ts'

/** Needs of the meeting times. */
export interface MeetingTimesOptions {
  store: Pick<Store, 'all' | 'get' | 'writeBehind'>
  pool: { peopleCount(roomId: string): number; onEvent(listener: (event: PoolEvent) => void): () => void }
  /** Milliseconds since the epoch. */
  clock?: () => number
}

/** Interval between two notes that a meeting goes on, in milliseconds. */
const noteMs = 2 * 60_000
/** A meeting whose people were lost with their node or controller goes on if one of them returns within this time, in milliseconds. */
const returnMs = 5 * 60_000

/**
 * Beginnings of the meetings in progress. The first person begins one, the last one to leave ends it. It outlives the loss of a node, a restart of the controller and a change of
 * leader, because people return from these by themselves.
 */
export class MeetingTimes {
  readonly #options: MeetingTimesOptions
  readonly #clock: () => number
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: () => void

  constructor(options: MeetingTimesOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
    this.#unsubscribe = options.pool.onEvent((event) => this.#onEvent(event))
    this.#timer = setInterval(() => this.#note(), noteMs).unref()
  }

  /** Ends the subscription; departures after it end no meeting. */
  close(): void {
    this.#unsubscribe()
    clearInterval(this.#timer)
  }

  /** When the room's meeting began, in milliseconds since the epoch; 0 while nobody is in it. O(1). */
  since(roomId: string): number {
    const { store, pool } = this.#options
    return pool.peopleCount(roomId) === 0 ? 0 : (store.get('meetings', roomId)?.since ?? 0)
  }

  #onEvent(event: PoolEvent): void {
    if (event.type === 'joined' && !event.user.device) this.#joined(event.roomId, event.user.joinedAt)
    if (event.type === 'left' && !event.user.device) this.#left(event.roomId, event.lost === true)
  }

  #joined(roomId: string, joinedAt: number): void {
    const { store, pool } = this.#options
    const now = this.#clock()
    const known = store.get('meetings', roomId)
    const goesOn = known !== undefined && (pool.peopleCount(roomId) > 1 || now - known.seen_at <= returnMs)
    // Clocks of nodes may be ahead; a replica that takes over finds people in any order.
    const since = Math.min(goesOn ? known.since : now, joinedAt, now)
    if (known?.since !== since) store.writeBehind('meetings', roomId, { since, seen_at: now })
  }

  #left(roomId: string, lost: boolean): void {
    const { store, pool } = this.#options
    if (pool.peopleCount(roomId) > 0) return
    const known = store.get('meetings', roomId)
    if (known === undefined) return
    if (lost) return store.writeBehind('meetings', roomId, { ...known, seen_at: this.#clock() })
    // Somebody who comes again leaves and joins in one step.
    queueMicrotask(() => {
      if (pool.peopleCount(roomId) === 0) store.writeBehind('meetings', roomId, undefined)
    })
  }

  #note(): void {
    const { store, pool } = this.#options
    const now = this.#clock()
    for (const [roomId, { since, seen_at }] of store.all('meetings')) {
      if (pool.peopleCount(roomId) > 0) store.writeBehind('meetings', roomId, { since, seen_at: now })
      else if (now - seen_at > returnMs) store.writeBehind('meetings', roomId, undefined)
    }
  }
}

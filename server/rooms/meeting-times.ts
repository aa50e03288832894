import { clearInterval, setInterval } from 'node:timers'
import type { PresenceView } from '../nodes/pool/state/presence.ts'
import type { PoolEvent, PoolEventSource } from '../nodes/port/pool-events.ts'
import type { Store } from '../store/store.ts'

export interface MeetingTimesOptions {
  store: Pick<Store, 'all' | 'get' | 'writeBehind'>
  presence: Pick<PresenceView, 'peopleIn'>
  events: PoolEventSource
  /** Returns the current time, in milliseconds since the epoch. */
  clock?: () => number
}

/** Interval at which meetings in progress are recorded, in milliseconds. */
const noteMs = 2 * 60_000
/**
 * Maximum time between the loss of a node or controller and the return of a person for the meeting to continue, in
 * milliseconds.
 */
const returnMs = 5 * 60_000

/**
 * Start times of the meetings in progress. The first person starts a meeting, and the last person to leave ends it. A
 * meeting survives the loss of a node, a restart of the controller and a change of the leader, because clients
 * reconnect automatically.
 */
export class MeetingTimes {
  readonly #options: MeetingTimesOptions
  readonly #clock: () => number
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: () => void

  constructor(options: MeetingTimesOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
    this.#unsubscribe = options.events.subscribe((event) => this.#onEvent(event))
    this.#timer = setInterval(() => this.#note(), noteMs).unref()
  }

  /** Ends the subscription: later departures end no meeting. */
  close(): void {
    this.#unsubscribe()
    clearInterval(this.#timer)
  }

  /** Returns the start of the room's meeting, in milliseconds since the epoch; 0: the room is empty. O(1). */
  since(roomId: string): number {
    const { store, presence } = this.#options
    return presence.peopleIn(roomId) === 0 ? 0 : (store.get('meetings', roomId)?.since ?? 0)
  }

  #onEvent(event: PoolEvent): void {
    if (event.type === 'joined' && !event.user.device) this.#joined(event.roomId, event.user.joinedAt)
    if (event.type === 'left' && !event.user.device) this.#left(event.roomId, event.lost === true)
  }

  #joined(roomId: string, joinedAt: number): void {
    const { store, presence } = this.#options
    const now = this.#clock()
    const known = store.get('meetings', roomId)
    const goesOn = known !== undefined && (presence.peopleIn(roomId) > 1 || now - known.seen_at <= returnMs)
    // Clocks of nodes may be ahead, and a new leader may receive people in any order.
    const since = Math.min(goesOn ? known.since : now, joinedAt, now)
    if (known?.since !== since) store.writeBehind('meetings', roomId, { since, seen_at: now })
  }

  #left(roomId: string, lost: boolean): void {
    const { store, presence } = this.#options
    if (presence.peopleIn(roomId) > 0) return
    const known = store.get('meetings', roomId)
    if (known === undefined) return
    if (lost) return store.writeBehind('meetings', roomId, { ...known, seen_at: this.#clock() })
    // A person who joins again leaves and joins within one event loop turn, so the check is deferred.
    queueMicrotask(() => {
      if (presence.peopleIn(roomId) === 0) store.writeBehind('meetings', roomId, undefined)
    })
  }

  #note(): void {
    const { store, presence } = this.#options
    const now = this.#clock()
    for (const [roomId, { since, seen_at }] of store.all('meetings')) {
      if (presence.peopleIn(roomId) > 0) store.writeBehind('meetings', roomId, { since, seen_at: now })
      else if (now - seen_at > returnMs) store.writeBehind('meetings', roomId, undefined)
    }
  }
}

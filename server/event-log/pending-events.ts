import type { StoredPendingEvent } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { startTimer, type Timer } from '../store/system/time.ts'
import type { SharedEventLog } from './event-log.ts'
import { entryPages } from './read-log.ts'

export interface PendingEventsDependencies {
  store: Pick<Store, 'all' | 'transact' | 'onChange' | 'leadership'>
  log: Pick<SharedEventLog, 'append' | 'query' | 'sync'>
  logger: { warn(fields: object, message: string): void }
}

/** Pause after a failure of the log or the store, in milliseconds. */
const retryMs = 5_000
/** Interval of deletions of logged events from the store, in milliseconds: each deletion costs several writes. */
const settleMs = 2_000
/** Maximum amount by which a clock may have been set back between an event and its entry, in milliseconds. */
const clockMs = 60 * 60_000
const page = 500

/**
 * Moves events that were stored with their changes into the event log, in order, and then deletes them from the store.
 * If a controller logged an event but could not delete it, the event is found in the log by its id. So each event is
 * logged only once.
 */
export class PendingEvents {
  readonly #dependencies: PendingEventsDependencies
  /** Ids of stored events that are already in the log; undefined: not read yet. */
  #logged: Set<string> | undefined
  /** Whether every stored event is logged, so that the next event can be logged at once. */
  #isCaughtUp = false
  #work: Promise<void> = Promise.resolve()
  #timer: Timer | undefined
  readonly #stops: (() => void)[] = []

  constructor(dependencies: PendingEventsDependencies) {
    this.#dependencies = dependencies
  }

  start(): void {
    const { store } = this.#dependencies
    this.#stops.push(
      store.onChange(
        (changes) => {
          for (const { collection, key, value } of changes)
            if (collection === 'pending_events' && value !== undefined) this.#stored(key, value)
        },
        ['pending_events'],
      ),
      store.leadership.onChange(() => this.#refresh()),
    )
    this.#refresh()
  }

  /** Resolves when no work is under way; remaining events are logged after the next start. */
  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop()
    this.#timer?.cancel()
    await this.#work
  }

  /** Resolves when the stored events are logged, or logging failed. Never rejects. */
  async caughtUp(): Promise<void> {
    if (!this.#isCaughtUp) await this.#work
  }

  #stored(id: string, event: StoredPendingEvent): void {
    this.#isCaughtUp &&= this.#dependencies.store.leadership.isHeld
    // Logged at once, so that the caller of the change finds its event. Another controller may log it too: the log of a
    // site skips the duplicate.
    if (this.#isCaughtUp && this.#logged !== undefined) this.#log(id, event, this.#logged)
    this.#timer ??= startTimer(settleMs, () => this.#begin(), false)
  }

  /** Starts from the beginning, because another controller may have logged some events. */
  #refresh(): void {
    this.#isCaughtUp = this.#dependencies.store.all('pending_events').size === 0
    this.#logged = this.#isCaughtUp ? new Set() : undefined
    this.#begin()
  }

  #begin(): void {
    if (this.#stops.length === 0) return
    this.#timer?.cancel()
    this.#timer = undefined
    this.#work = this.#work.then(() => this.#run())
  }

  async #run(): Promise<void> {
    try {
      await this.#logAll()
    } catch (err) {
      this.#dependencies.logger.warn({ err }, 'stored events were not logged: retrying')
      this.#timer ??= startTimer(retryMs, () => this.#begin(), false)
    }
  }

  async #logAll(): Promise<void> {
    const { store, log } = this.#dependencies
    while (store.leadership.isHeld && this.#stops.length > 0) {
      const [oldest] = store.all('pending_events').values()
      if (oldest === undefined) {
        this.#logged ??= new Set()
        this.#isCaughtUp = true
        return
      }
      await store.leadership.confirmed()
      const logged = (this.#logged ??= await this.#loggedSince(oldest.at - clockMs))
      const all = store.all('pending_events')
      const pending = [...all].slice(0, page)
      for (const [id, event] of pending) this.#log(id, event, logged)
      this.#isCaughtUp ||= pending.length === all.size
      if ((await log.sync()) === undefined) throw new Error('the event log does not take entries')
      await store.transact(['pending_events'], (transaction) => {
        for (const [id] of pending) transaction.delete('pending_events', id)
      })
      for (const [id] of pending) logged.delete(id)
      // Events stored during this run have started the timer.
      if (pending.length < page) return
    }
  }

  #log(id: string, event: StoredPendingEvent, logged: Set<string>): void {
    if (logged.has(id)) return
    logged.add(id)
    this.#dependencies.log.append({ ...event, change: id })
  }

  async #loggedSince(from: number): Promise<Set<string>> {
    const found = new Set<string>()
    for await (const items of entryPages(this.#dependencies.log, { from }, page))
      for (const { change } of items) if (change !== undefined) found.add(change)
    return found
  }
}

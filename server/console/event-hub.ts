import type { ConsoleEvent, EventPayload } from '../../shared/console/contract.ts'
import type { EventName } from '../../shared/console/event-names.ts'

/** Sends events to all open consoles. Does nothing while no console is open. */
export class EventHub {
  readonly #listeners = new Set<(event: ConsoleEvent) => void>()
  readonly #watchers = new Set<(listening: boolean) => void>()

  /** Whether any console is listening. If not, event sources can skip their work. */
  get listening(): boolean {
    return this.#listeners.size > 0
  }

  emit<N extends EventName>(name: N, payload: EventPayload<N>): void {
    if (this.#listeners.size === 0) return
    // TypeScript cannot derive that the generic pair of name and payload is a ConsoleEvent.
    const event = { name, payload } as ConsoleEvent
    for (const listener of this.#listeners) listener(event)
  }

  /**
   * Adds a listener.
   * @returns the unsubscribe function
   */
  listen(listener: (event: ConsoleEvent) => void): () => void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) for (const watcher of this.#watchers) watcher(true)
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0)
        for (const watcher of this.#watchers) watcher(false)
    }
  }

  /** Calls the watcher when the first listener is added and when the last listener is removed. */
  watch(watcher: (listening: boolean) => void): void {
    this.#watchers.add(watcher)
  }
}

/**
 * Collects keys and delivers them at most once per `interval` milliseconds. After a pause, the first keys are delivered
 * almost immediately.
 */
export class Collector<K> {
  readonly #keys = new Set<K>()
  readonly #flush: (keys: K[]) => void
  readonly #interval: number
  #timer: NodeJS.Timeout | undefined
  #last = 0

  constructor(flush: (keys: K[]) => void, interval = 250) {
    this.#flush = flush
    this.#interval = interval
  }

  add(key: K): void {
    this.#keys.add(key)
    if (this.#timer !== undefined) return
    const wait = Math.max(20, this.#interval - (performance.now() - this.#last))
    this.#timer = setTimeout(() => this.#fire(), wait)
    this.#timer.unref()
  }

  /** Stops the timer and drops the collected keys. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#keys.clear()
  }

  #fire(): void {
    this.#timer = undefined
    this.#last = performance.now()
    const keys = [...this.#keys]
    this.#keys.clear()
    this.#flush(keys)
  }
}

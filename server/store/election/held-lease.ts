import type { StoreLogger } from '../notices.ts'
import { elapsed, startTimer, type Timer } from '../system/time.ts'

/**
 * The lease of a leader for background work: see `Leadership`. Each proof extends the lease; without a proof, the lease
 * expires.
 */
export class HeldLease {
  readonly #logger: StoreLogger | undefined
  readonly #listeners = new Set<(isHeld: boolean) => void>()
  /** Expiry time by `elapsed()`. */
  #endsAt = 0
  /** Aborted when the lease ends; undefined: no lease. */
  #current: AbortController | undefined
  #timer: Timer | undefined

  constructor(logger: StoreLogger | undefined) {
    this.#logger = logger
  }

  /**
   * Whether the lease is held. After a freeze of the process, the lease counts as expired even before the timers run.
   */
  get isHeld(): boolean {
    return this.#current !== undefined && elapsed() < this.#endsAt
  }

  /** Extends the lease until this time by `elapsed()`; never shortens it. */
  extend(until: number): void {
    // If the lease expired before the timer could run, listeners are notified of both changes.
    if (this.#current !== undefined && elapsed() >= this.#endsAt) this.end()
    this.#endsAt = Math.max(this.#endsAt, until)
    if (this.#current !== undefined || elapsed() >= this.#endsAt) return
    this.#current = new AbortController()
    this.#watch()
    this.#notify(true)
  }

  end(): void {
    this.#endsAt = 0
    this.#timer?.cancel()
    const ended = this.#current
    if (ended === undefined) return
    this.#current = undefined
    ended.abort(new Error('The lease of this controller has ended.'))
    this.#notify(false)
  }

  onChange(listener: (isHeld: boolean) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  signal(): AbortSignal {
    const { isHeld } = this
    return isHeld && this.#current !== undefined ? this.#current.signal : AbortSignal.abort()
  }

  #watch(): void {
    const left = this.#endsAt - elapsed()
    if (left <= 0) this.end()
    else this.#timer = startTimer(left, () => this.#watch(), false)
  }

  #notify(isHeld: boolean): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(isHeld)
      } catch (error) {
        this.#logger?.error({ err: error }, 'unexpected error when the lease changed')
      }
    }
  }
}

import { elapsed, startTimer, type Timer } from '../system/time.ts'

/** The lease of a leader as work sees it that runs on its own: see `Leadership`. Extended by each proof; ends by itself when none comes. */
export class HeldLease {
  readonly #onError: (error: unknown) => void
  readonly #listeners = new Set<(isHeld: boolean) => void>()
  /** Time by `elapsed()`. */
  #endsAt = 0
  /** Ends with the lease; undefined: there is none. */
  #current: AbortController | undefined
  #timer: Timer | undefined

  /** @param onError called with what a listener has thrown */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** A process that was frozen has no lease after it, even before its timers run. */
  get isHeld(): boolean {
    return this.#current !== undefined && elapsed() < this.#endsAt
  }

  /** The lease lasts until this time by `elapsed()`, or longer if it does already. */
  extend(until: number): void {
    // It was over before the timer could run: those who listen have to see both changes.
    if (this.#current !== undefined && elapsed() >= this.#endsAt) this.end()
    this.#endsAt = Math.max(this.#endsAt, until)
    if (this.#current !== undefined || elapsed() >= this.#endsAt) return
    this.#current = new AbortController()
    this.#watch()
    this.#notify(true)
  }

  /** Ends the lease now. */
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
        this.#onError(error)
      }
    }
  }
}

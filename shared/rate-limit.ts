import { LRUCache } from 'lru-cache'
import { limits } from './limits.ts'

/** Uses of one key in its current window. */
interface Window {
  /** On the limit's clock. */
  began: number
  used: number
}

/** How a limit is set. */
export interface RateLimitOptions {
  /** Uses per key and window; asked each time, so that a setting applies at once. 0 is no limit. */
  most: number | (() => number)
  /** Milliseconds from a key's first use until it starts anew. */
  windowMs: number
  /** Maximum number of keys; past it the least recently used one is forgotten. Memory for all of them is taken at once: 26 bytes for each. */
  remembered?: number
  /** Monotonic clock, in milliseconds. */
  now?: () => number
}

/**
 * Counts uses per key in fixed windows, each of which begins with its key's first use. Bounded, and O(1) in every step.
 * It stands in `shared/` because both programs limit: the controller's ports and the media node.
 */
export class RateLimit {
  readonly #most: () => number
  readonly #windowMs: number
  readonly #now: () => number
  readonly #windows: LRUCache<string, Window>

  constructor({ most, windowMs, remembered = limits.rememberedAddresses, now }: RateLimitOptions) {
    this.#most = typeof most === 'number' ? () => most : most
    this.#windowMs = windowMs
    this.#now = now ?? (() => performance.now())
    this.#windows = new LRUCache({ max: remembered })
  }

  /** Whether a key has used its window up: its next use would be one too many. */
  reached(key: string): boolean {
    const most = this.#most()
    return most > 0 && (this.#current(key)?.used ?? 0) >= most
  }

  /** Counts one use. Returns whether it was within the limit. */
  take(key: string): boolean {
    const now = this.#now()
    let window = this.#windows.get(key)
    if (window === undefined || now - window.began >= this.#windowMs) {
      window = { began: now, used: 0 }
      this.#windows.set(key, window)
    }
    window.used++
    const most = this.#most()
    return most === 0 || window.used <= most
  }

  /** Takes back one use that turned out to be none. */
  giveBack(key: string): void {
    const window = this.#current(key)
    if (window !== undefined && window.used > 0) window.used--
  }

  /** Milliseconds until a key that has used its window up may go on; 0 when it has not. */
  retryAfterMs(key: string): number {
    const window = this.#current(key)
    return window === undefined || !this.reached(key) ? 0 : window.began + this.#windowMs - this.#now()
  }

  /** Forgets a key that is over, such as a connection that closed. */
  forget(key: string): void {
    this.#windows.delete(key)
  }

  /** Returns the window of a key, without counting as a use of it. */
  #current(key: string): Window | undefined {
    const window = this.#windows.peek(key)
    return window !== undefined && this.#now() - window.began < this.#windowMs ? window : undefined
  }
}

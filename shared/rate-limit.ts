import { LRUCache } from 'lru-cache'
import { growingTo } from './growing-cache.ts'
import { limits } from './limits.ts'

/** Uses of one key in its current time window. */
interface Window {
  /** Start of the window, on the clock of the limit. */
  began: number
  used: number
}

export interface RateLimitOptions {
  /**
   * Maximum number of uses per key and window; 0: no limit. A function is called each time, so that a changed setting
   * takes effect at once.
   */
  max: number | (() => number)
  /** Length of a window, in milliseconds. */
  windowMs: number
  /** Maximum number of keys; beyond this number, the least recently used key is deleted. */
  remembered?: number
  /** Monotonic clock, in milliseconds. */
  now?: () => number
}

/**
 * Counts uses per key in fixed windows; each window starts with a use of its key. Memory is bounded, and every
 * operation is O(1).
 * In `shared/` because the controller's ports and the media node use it.
 */
export class RateLimit {
  readonly #max: () => number
  readonly #windowMs: number
  readonly #now: () => number
  readonly #windows: LRUCache<string, Window>

  constructor({ max, windowMs, remembered = limits.rememberedAddresses, now }: RateLimitOptions) {
    this.#max = typeof max === 'number' ? () => max : max
    this.#windowMs = windowMs
    this.#now = now ?? (() => performance.now())
    this.#windows = new LRUCache(growingTo(remembered))
  }

  /** Whether a key has reached its limit. */
  reached(key: string): boolean {
    const max = this.#max()
    return max > 0 && (this.#current(key)?.used ?? 0) >= max
  }

  /** Counts one use. Returns whether the use was within the limit. */
  take(key: string): boolean {
    const now = this.#now()
    let window = this.#windows.get(key)
    if (window === undefined || now - window.began >= this.#windowMs) {
      window = { began: now, used: 0 }
      this.#windows.set(key, window)
    }
    window.used++
    const max = this.#max()
    return max === 0 || window.used <= max
  }

  /** Subtracts one use that should not count. */
  giveBack(key: string): void {
    const window = this.#current(key)
    if (window !== undefined && window.used > 0) window.used--
  }

  /** Returns the time until a key at its limit may be used again, in milliseconds; 0: now. */
  retryAfterMs(key: string): number {
    const window = this.#current(key)
    return window === undefined || !this.reached(key) ? 0 : window.began + this.#windowMs - this.#now()
  }

  /** Deletes a key that is no longer needed, e.g. of a closed connection. */
  forget(key: string): void {
    this.#windows.delete(key)
  }

  /** Returns the current window of a key; undefined: none. Does not mark the key as recently used. */
  #current(key: string): Window | undefined {
    const window = this.#windows.peek(key)
    return window !== undefined && this.#now() - window.began < this.#windowMs ? window : undefined
  }
}

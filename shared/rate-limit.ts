import { limits } from './limits.ts'

/** What one key has used of its window. */
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
  /** Keys remembered; past it the one that was used least recently is forgotten. */
  remembered?: number
  /** Milliseconds of a clock that is never set. */
  now?: () => number
}

/**
 * The product's one rate limiter: counts uses per key in fixed windows, each of which begins with its key's first use. Bounded, and O(1)
 * in every step. It stands here because both programs limit: the controller's ports and the media node.
 */
export class RateLimit<Key = string> {
  readonly #most: () => number
  readonly #windowMs: number
  readonly #remembered: number
  readonly #now: () => number
  /** The least recently used key first: a use moves its key to the end. */
  readonly #windows = new Map<Key, Window>()
  /** Stays where it is between two calls: whatever lies behind it was forgotten or moved, so its next key is the least recently used one. */
  readonly #oldest = this.#windows.keys()

  constructor({ most, windowMs, remembered = limits.rememberedAddresses, now }: RateLimitOptions) {
    this.#most = typeof most === 'number' ? () => most : most
    this.#windowMs = windowMs
    this.#remembered = remembered
    this.#now = now ?? (() => performance.now())
  }

  /** Whether a key has used its window up: its next use would be one too many. */
  reached(key: Key): boolean {
    const most = this.#most()
    return most > 0 && (this.#current(key)?.used ?? 0) >= most
  }

  /** Counts one use. Returns whether it was within the limit. */
  take(key: Key): boolean {
    const window = this.#current(key) ?? { began: this.#now(), used: 0 }
    if (!this.#windows.delete(key) && this.#windows.size >= this.#remembered) this.#forgetOldest()
    this.#windows.set(key, window)
    window.used++
    const most = this.#most()
    return most === 0 || window.used <= most
  }

  /** Takes back one use that turned out to be none. */
  giveBack(key: Key): void {
    const window = this.#current(key)
    if (window !== undefined && window.used > 0) window.used--
  }

  /** Milliseconds until a key that has used its window up may go on; 0 when it has not. */
  retryAfterMs(key: Key): number {
    const window = this.#current(key)
    return window === undefined || !this.reached(key) ? 0 : window.began + this.#windowMs - this.#now()
  }

  /** A key that is over, such as a connection that closed. */
  forget(key: Key): void {
    this.#windows.delete(key)
  }

  #current(key: Key): Window | undefined {
    const window = this.#windows.get(key)
    return window !== undefined && this.#now() - window.began < this.#windowMs ? window : undefined
  }

  #forgetOldest(): void {
    const { value: oldest } = this.#oldest.next()
    if (oldest !== undefined) this.#windows.delete(oldest)
  }
}

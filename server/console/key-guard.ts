import { ClientRateLimit } from '../edge/rate-limit.ts'
import type { ConsoleKey } from './console-key.ts'

/** What became of a key that somebody offered. */
export type KeyVerdict = { verdict: 'right' } | { verdict: 'wrong' } | { verdict: 'blocked'; retryAfter: number }

/**
 * Judges console keys that are offered. Five wrong ones a minute are answered per client address, further ones refused until the minute is
 * over. The right key always passes: a stranger behind the operator's own address (a proxy, a NAT) locks nobody out, and finds out
 * nothing by trying, for a key holds 128 bits at least.
 */
export class KeyGuard {
  readonly #key: ConsoleKey
  readonly #wrong: ClientRateLimit

  constructor(key: ConsoleKey, perMinute = 5) {
    this.#key = key
    this.#wrong = new ClientRateLimit({ most: perMinute, windowMs: 60_000 })
  }

  /** `retryAfter` is in seconds. */
  judge(client: string, candidate: string): KeyVerdict {
    if (this.#key.matches(candidate)) return { verdict: 'right' }
    if (this.#wrong.reached(client)) {
      return { verdict: 'blocked', retryAfter: this.#wrong.retryAfterSeconds(client) }
    }
    this.#wrong.take(client)
    return { verdict: 'wrong' }
  }
}

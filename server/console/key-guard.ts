import { ClientRateLimit } from '../edge/rate-limit.ts'

/** Verdict on an offered key or token. */
export type KeyVerdict = { verdict: 'right' } | { verdict: 'wrong' } | { verdict: 'blocked'; retryAfter: number }

/**
 * Counts wrong keys and tokens. Five wrong ones a minute are answered per client address, further ones refused until the minute is
 * over. The right one always passes: a stranger behind the operator's own address (a proxy, a NAT) locks nobody out, and finds out
 * nothing by trying, for each holds 128 bits at least.
 */
export class KeyGuard {
  readonly #wrong: ClientRateLimit

  constructor(perMinute = 5) {
    this.#wrong = new ClientRateLimit({ most: perMinute, windowMs: 60_000 })
  }

  /** `retryAfter` is in seconds. */
  judge(client: string, right: boolean): KeyVerdict {
    if (right) return { verdict: 'right' }
    if (this.#wrong.reached(client)) {
      return { verdict: 'blocked', retryAfter: this.#wrong.retryAfterSeconds(client) }
    }
    this.#wrong.take(client)
    return { verdict: 'wrong' }
  }
}

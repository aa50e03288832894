import { addressShare } from '../../shared/client-address.ts'
import { RateLimit, type RateLimitOptions } from '../../shared/rate-limit.ts'

/** A rate limit per client address; of IPv6 a /64 is one client. */
export class ClientRateLimit {
  readonly #limit: RateLimit

  constructor(options: RateLimitOptions) {
    this.#limit = new RateLimit(options)
  }

  /** Whether a client has used its window up. @param client as `clientAddress` says it */
  reached(client: string): boolean {
    return this.#limit.reached(addressShare(client))
  }

  /** Counts one use. Returns whether it was within the limit. */
  take(client: string): boolean {
    return this.#limit.take(addressShare(client))
  }

  /** Whole seconds until a client that has used its window up may go on, at least 1; for Retry-After (RFC 9110, section 10.2.3). */
  retryAfterSeconds(client: string): number {
    return Math.max(1, Math.ceil(this.#limit.retryAfterMs(addressShare(client)) / 1000))
  }
}

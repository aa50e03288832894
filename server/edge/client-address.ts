import type { IncomingMessage } from 'node:http'
import { addressShare, plainAddress } from '../../shared/client-address.ts'
import { RateLimit, type RateLimitOptions } from '../../shared/rate-limit.ts'
import { provenClient } from './passed-on.ts'

/**
 * Returns the IP address of a request's client. Headers of proxies are ignored, because any client can send them. For a
 * request forwarded by another controller of the site, returns the signed address.
 */
export function clientAddress(request: Pick<IncomingMessage, 'socket'>): string {
  return provenClient(request) ?? plainAddress(request.socket.remoteAddress)
}

/** A rate limit per client address; an IPv6 /64 counts as one client. */
export class ClientRateLimit {
  readonly #limit: RateLimit

  constructor(options: RateLimitOptions) {
    this.#limit = new RateLimit(options)
  }

  /** Whether a client has reached the limit of its window. @param client result of `clientAddress` */
  reached(client: string): boolean {
    return this.#limit.reached(addressShare(client))
  }

  /** Counts one use. Returns whether the use was within the limit. */
  take(client: string): boolean {
    return this.#limit.take(addressShare(client))
  }

  /**
   * Returns the whole seconds until a client at its limit may continue, at least 1; for Retry-After (RFC 9110, section
   * 10.2.3).
   */
  retryAfterSeconds(client: string): number {
    return Math.max(1, Math.ceil(this.#limit.retryAfterMs(addressShare(client)) / 1000))
  }
}

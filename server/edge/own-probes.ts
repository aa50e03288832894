import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Header of a request from this process to one of its own ports. */
const header = 'roomdesk-own-probe'

/** Secrets of requests under way. Each secret is accepted once, so that a client cannot reuse it. */
const underWay = new Set<string>()

/**
 * Runs a request of this process to one of its own ports. The port answers the request without a handler, and excludes
 * it from journals, counts and limits of clients.
 * @param ask sends one request with these headers
 */
export async function asOwnProbe<T>(ask: (headers: Record<string, string>) => Promise<T>): Promise<T> {
  const secret = randomBytes(32).toString('base64url')
  underWay.add(secret)
  try {
    return await ask({ [header]: secret })
  } finally {
    underWay.delete(secret)
  }
}

/** Whether a request was sent by `asOwnProbe`. Accepts each secret only once. */
export function isOwnProbe(headers: IncomingHttpHeaders): boolean {
  const secret = headers[header]
  return typeof secret === 'string' && underWay.delete(secret)
}

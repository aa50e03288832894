import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Header of a request with which this process asks one of its own ports. */
const header = 'roomdesk-own-probe'

/** Secrets of the requests under way: each is accepted once. A client that repeats one is a client. */
const underWay = new Set<string>()

/**
 * Runs a request of this process to one of its own ports: the port answers it without a handler, and it is not in journals, counts or limits of clients.
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

/** Tells whether a request is one of `asOwnProbe`. A second one with the same secret is not. */
export function isOwnProbe(headers: IncomingHttpHeaders): boolean {
  const secret = headers[header]
  return typeof secret === 'string' && underWay.delete(secret)
}

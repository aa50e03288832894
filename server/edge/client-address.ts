import type { IncomingMessage } from 'node:http'
import { plainAddress } from '../../shared/client-address.ts'
import { provenClient } from './passed-on.ts'

export { addressShare } from '../../shared/client-address.ts'

/**
 * Returns the IP address of a request's client. Headers of proxies are ignored, because any client can send them; an
 * address proved by another controller of the site is used.
 */
export function clientAddress(request: Pick<IncomingMessage, 'socket'>): string {
  return provenClient(request) ?? plainAddress(request.socket.remoteAddress)
}

import type { IncomingMessage } from 'node:http'
import { plainAddress } from '../../shared/client-address.ts'
import { provenClient } from './passed-on.ts'

export { addressShare } from '../../shared/client-address.ts'

/**
 * Returns the IP address of a request's client. Headers of proxies are ignored, because any client can send them. For a
 * request forwarded by another controller of the site, returns the signed address.
 */
export function clientAddress(request: Pick<IncomingMessage, 'socket'>): string {
  return provenClient(request) ?? plainAddress(request.socket.remoteAddress)
}

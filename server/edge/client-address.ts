import type { IncomingMessage } from 'node:http'
import { plainAddress } from '../../shared/client-address.ts'
import { provenClient } from './passed-on.ts'

export { addressShare } from '../../shared/client-address.ts'

/** The IP address of a request's client. What proxies write into headers is not asked, for anybody can write that; what another controller of the site proves is believed. */
export function clientAddress(request: Pick<IncomingMessage, 'socket'>): string {
  return provenClient(request) ?? plainAddress(request.socket.remoteAddress)
}

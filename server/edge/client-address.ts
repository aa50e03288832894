import type { IncomingMessage } from 'node:http'
import { plainAddress } from '../../shared/client-address.ts'

export { addressShare } from '../../shared/client-address.ts'

/** The IP address of a request's client; what proxies write into headers is not asked, for anybody can write that. */
export function clientAddress(request: Pick<IncomingMessage, 'socket'>): string {
  return plainAddress(request.socket.remoteAddress)
}

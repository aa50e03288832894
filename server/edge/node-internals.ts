import type { IncomingMessage, Server } from 'node:http'
import { Server as NetServer } from 'node:net'

/** Everything that the ports rely on beyond the documented API of Node. Each function has a test of its own, which a new version of Node has to pass. */

/**
 * Stops accepting connections and leaves open ones as they are. `http.Server.close()` would drop idle connections at once, also those whose next request is on its way: it overrides
 * the method of `net.Server` that is called here.
 * @returns resolves when the last connection is closed
 */
export function stopAccepting(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()))
}

/**
 * Passes each piece of a request's body through `see` before anybody can read it. Node's parser hands it over by `push`.
 * @param see takes a piece, or null at the end; false ends the request, and the end is not passed on
 */
export function watchBody(request: IncomingMessage, see: (piece: Buffer | null) => boolean): void {
  const push = request.push.bind(request)
  request.push = (piece: Buffer | null, encoding) => see(piece) && push(piece, encoding)
}

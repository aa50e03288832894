import type { IncomingMessage, Server } from 'node:http'
import { Server as NetServer } from 'node:net'

/** Uses of Node beyond its documented API. Each function has its own test, which a new version of Node must pass. */

/**
 * Stops accepting connections, and leaves open connections unchanged. `http.Server.close()` would close idle
 * connections at once, even if their next request is already in transit. This function calls `net.Server.close()`,
 * which `http.Server` overrides.
 * @returns a promise that resolves when the last connection is closed
 */
export function stopAccepting(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()))
}

/**
 * Passes each chunk of a request's body through `see` before the chunk can be read. Node's parser delivers chunks by
 * `push`.
 * @param see receives a chunk, or null at the end; false stops the delivery, so that the end is not passed on
 */
export function watchBody(request: IncomingMessage, see: (piece: Buffer | null) => boolean): void {
  const push = request.push.bind(request)
  request.push = (piece: Buffer | null, encoding) => see(piece) && push(piece, encoding)
}

import type { Server } from 'node:http'
import { createSecureContext, createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { splitByFirstByte } from './first-byte.ts'
import type { TlsMaterial } from './tls.ts'

/** Name by which controllers of a site ask each other for their certificates (RFC 6066, section 3). It can be nobody's (RFC 9476). */
export const controllerName = 'controller.alt'

/** Certificates that a port of plain HTTP shows. */
export interface CertificatesBeside {
  /** To pages that were opened at https before TLS was switched off; undefined: none. */
  pages: TlsMaterial | undefined
  /** To other controllers of the site; undefined: none. */
  controllers: TlsMaterial | undefined
}

/**
 * Serves TLS beside plain HTTP on the same port: the first byte of a connection tells which it is. The server emits `secureConnection` after a handshake.
 * @param firstByteMs limit for a silent connection and for a handshake, in milliseconds
 */
export function serveTlsBeside(server: Server, { pages, controllers }: CertificatesBeside, firstByteMs: number): void {
  const shown = pages ?? controllers
  if (shown === undefined) return
  const ofControllers = createSecureContext({ cert: controllers?.cert, key: controllers?.key })
  const read = splitByFirstByte(server, {
    waitMs: firstByteMs,
    late: (transport) => {
      const problem = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      server.emit('clientError', problem, transport)
    },
    handshake: (transport) => void secure.emit('connection', transport),
    plain: (transport, inTime) => {
      inTime()
      read(transport)
    },
  })
  const secure = createTlsServer({
    ...{ cert: shown.cert, key: shown.key, handshakeTimeout: firstByteMs },
    SNICallback: (name, done) => done(null, name === controllerName && controllers ? ofControllers : undefined),
  })
  secure.on('secureConnection', (socket: TLSSocket) => {
    server.emit('secureConnection', socket)
    read(socket)
  })
  secure.on('tlsClientError', (_, socket) => socket.destroy())
}

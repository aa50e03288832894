import type { Server } from 'node:http'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { splitByFirstByte } from './first-byte.ts'
import type { TlsMaterial } from './tls.ts'

/**
 * Serves TLS beside plain HTTP on the same port: the first byte of a connection tells which it is. The server emits `secureConnection` after a handshake.
 * @param firstByteMs limit for a silent connection and for a handshake, in milliseconds
 */
export function serveTlsBeside(server: Server, tls: TlsMaterial, firstByteMs: number): void {
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
  const secure = createTlsServer({ cert: tls.cert, key: tls.key, handshakeTimeout: firstByteMs })
  secure.on('secureConnection', (socket: TLSSocket) => {
    server.emit('secureConnection', socket)
    read(socket)
  })
  secure.on('tlsClientError', (_, socket) => socket.destroy())
}

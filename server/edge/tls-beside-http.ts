import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { handshakeByte } from './first-byte.ts'
import { ignoreError } from './guards.ts'
import type { TlsMaterial } from './tls.ts'

/**
 * Serves TLS beside plain HTTP on the same port: the first byte of a connection tells which it is. The server emits `secureConnection` after a handshake.
 * @param firstByteMs limit for a silent connection and for a handshake, in milliseconds
 */
export function serveTlsBeside(server: Server, tls: TlsMaterial, firstByteMs: number): void {
  // Node's own listener, which reads requests; both servers take connections by their event (documented for node:http and node:tls).
  const readers = server.listeners('connection')
  server.removeAllListeners('connection')
  const read = (socket: Socket): void => {
    for (const reader of readers) Reflect.apply(reader, server, [socket])
  }
  const secure = createTlsServer({ cert: tls.cert, key: tls.key, handshakeTimeout: firstByteMs })
  secure.on('secureConnection', (socket: TLSSocket) => {
    server.emit('secureConnection', socket)
    read(socket)
  })
  secure.on('tlsClientError', (_, socket) => socket.destroy())

  server.on('connection', (transport: Socket) => {
    transport.on('error', ignoreError)
    const ended = (): void => void transport.end()
    const late = (): void => {
      const problem = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      server.emit('clientError', problem, transport)
    }
    const timer = setTimeout(late, firstByteMs).unref()
    transport.once('close', () => clearTimeout(timer))
    transport.once('end', ended)
    transport.once('data', (first: Buffer) => {
      clearTimeout(timer)
      transport.off('end', ended)
      transport.pause()
      transport.unshift(first)
      if (first[0] === handshakeByte) {
        secure.emit('connection', transport)
        return
      }
      read(transport)
      transport.resume()
    })
  })
}

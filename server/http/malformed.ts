import type { Server } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { plainAddress } from '../../shared/client-address.ts'
import type { ErrorName } from '../../shared/result-codes.ts'
import { acceptRawTarget } from './raw-target.ts'
import type { RequestHandler } from './request-handler.ts'

/** What reaches a listener and is not a request that Node can parse: it gets an answer all the same (contract, section 1), then the connection closes. */

/** Milliseconds until a client that does not close its side is cut off. */
const lingerMs = 500

/** How each of Node's complaints is answered. */
const complaints: Readonly<Record<string, { error: ErrorName; message: string }>> = {
  HPE_INVALID_URL: { error: 'parameter', message: 'The request target is malformed: percent-encode it.' },
  HPE_HEADER_OVERFLOW: { error: 'parameter', message: 'The request target and headers are too long.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { error: 'parameter', message: 'The chunk extensions of the body are too long.' },
  ERR_HTTP_REQUEST_TIMEOUT: { error: 'parameter', message: 'The request did not arrive in time.' },
}
/** Node says the same of an unknown method and of bytes that are no request at all. */
const plausibleRequest = /^[!-~]{1,32} [!-~]+ HTTP\/1\.[01]\r\n/
const notKnown = { error: 'notSupported', message: 'This HTTP method is not supported.' } as const
const other = { error: 'parameter', message: 'This is not a well-formed HTTP request.' } as const

/** Answers malformed requests of a server. */
export function answerMalformed(server: Server, handler: RequestHandler): void {
  /** Sockets that were given up: whatever else they send is not looked at. */
  const givenUp = new WeakSet<Duplex>()

  const giveUp = (socket: Duplex, error: ErrorName, message: string) => {
    givenUp.add(socket)
    const client = socket instanceof Socket ? plainAddress(socket.remoteAddress) : ''
    const text = handler.refuseMalformed(client, error, message)
    socket.end(
      'HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n' +
        `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
    )
    // Read on for a moment: closing over unread bytes resets the connection, and the client loses the answer.
    socket.resume()
    setTimeout(() => socket.destroy(), lingerMs).unref()
  }

  server.on('clientError', (problem: Error & { code?: string; rawPacket?: Buffer }, socket) => {
    if (givenUp.has(socket)) return
    if (problem.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const pending = handler.pendingAnswer(socket)
    if (pending !== undefined) {
      // An answer to an earlier request is on its way: it goes out whole, and nothing after it.
      givenUp.add(socket)
      pending.once('close', () => socket.end())
      return
    }
    if (problem.code === 'HPE_INVALID_URL' && problem.rawPacket !== undefined) {
      givenUp.add(socket)
      // A TLS socket is one as well.
      if (socket instanceof Socket && acceptRawTarget(server, socket, problem.rawPacket)) return
    }
    const unknownMethod =
      problem.code === 'HPE_INVALID_METHOD' && plausibleRequest.test(problem.rawPacket?.toString('latin1') ?? '')
    const { error, message } = unknownMethod ? notKnown : (complaints[problem.code ?? ''] ?? other)
    giveUp(socket, error, message)
  })
  server.on('connect', (_request, socket) => {
    giveUp(socket, 'notSupported', 'CONNECT is not supported.')
  })
}
